internal import DequeModule

/// The notifications on the devices' screens: one line per device and collapse identifier, also after several pushes.
///
/// A retry that showed a notification twice made a second line.
package struct PushScreen: Sendable {
  package struct Line: Codable, Equatable, Sendable {
    /// The device token, lower-case.
    package let token: String
    /// The collapse identifier; nil for a push without one, which always has a separate line.
    package let collapseID: String?
    /// The number of accepted pushes that this line has shown.
    package fileprivate(set) var shown = 0
    /// The `apns-id` of the latest.
    package fileprivate(set) var identifier: String
    /// The payload of the latest.
    package fileprivate(set) var payload: String

    private enum CodingKeys: String, CodingKey {
      case token, shown, payload
      case collapseID = "collapse_id"
      case identifier = "apns_id"
    }
  }

  private struct Place: Hashable {
    let token: String
    let collapseID: String?
    /// The record's number without a collapse identifier, else 0.
    let number: Int
  }

  private let capacity: Int
  private var lines: [Place: Line] = [:]
  private var order: Deque<Place> = []

  init(capacity: Int) {
    self.capacity = capacity
  }

  /// All lines in order of appearance. Full screens drop the oldest.
  package var visible: [Line] { order.compactMap { lines[$0] } }

  /// Shows an accepted alert. Other push types have no line.
  mutating func show(_ record: PushRecord) {
    guard record.status == 200, record.pushType == .alert || record.pushType == nil else { return }
    let token = record.token.lowercased()
    let place = Place(
      token: token, collapseID: record.collapseID, number: record.collapseID == nil ? record.number : 0)
    if lines[place] == nil { makeRoom(for: place) }
    var line =
      lines[place]
      ?? Line(token: token, collapseID: record.collapseID, identifier: record.identifier, payload: record.payload)
    line.shown += 1
    line.identifier = record.identifier
    line.payload = record.payload
    lines[place] = line
  }

  private mutating func makeRoom(for place: Place) {
    if order.count == capacity, let oldest = order.popFirst() { lines[oldest] = nil }
    order.append(place)
  }
}

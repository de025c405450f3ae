import Foundation
import Simulators

/// What the simulator accepted, by device and message.
struct WireBook {
  struct Place: Hashable {
    let device: String
    let message: String
  }

  struct Arrival {
    let at: Int64
    /// When the answer was handed to the connection; nil when it was not, and nobody but APNs knows of the acceptance.
    let answeredAt: Int64?
    let identifier: String
    let collapseID: String?
  }

  /// In the order of their arrival.
  private(set) var accepted: [Place: [Arrival]] = [:]
  /// Lines on all screens.
  let visible: Int
  /// Requests by their answer.
  let outcomes: [String: Int]

  init(_ service: SimulatedService) {
    (visible, outcomes) = service.withLog { ($0.screen.visible.count, $0.outcomes) }
    for record in service.keptPushes where record.status == 200 { add(record) }
  }

  private mutating func add(_ record: APNSPushRecord) {
    // What clears a deleted message shows nothing.
    if record.payload.contains(#""type":"read""#) { return }
    let key = #""message_id":""#
    let message = record.payload.range(of: key).map { String(record.payload[$0.upperBound...].prefix(36)) }
    accepted[Place(device: record.token.lowercased(), message: message ?? "none"), default: []].append(
      Arrival(
        at: record.arrivedMicroseconds, answeredAt: record.answeredMicroseconds,
        identifier: record.identifier, collapseID: record.collapseID))
  }

  func arrivals(of message: HostMessage, at device: String) -> [Arrival] {
    accepted[Place(device: device, message: message.id)] ?? []
  }

  /// Accepted again although it was accepted.
  var duplicates: Int { accepted.values.reduce(0) { $0 + $1.count - 1 } }

  /// Device and message with more than one identity, and so more than one line on the screen.
  var shownTwice: Int {
    accepted.values.count { Set($0.map(\.identifier)).count > 1 || Set($0.map(\.collapseID)).count > 1 }
  }

  /// Accepted pushes that came between two moments, both included.
  func arrivals(from start: Int64, to end: Int64) -> Int {
    accepted.values.reduce(0) { count, arrivals in count + arrivals.count { start <= $0.at && $0.at <= end } }
  }
}

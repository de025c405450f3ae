internal import DequeModule

/// Server faults that wait for requests, in order.
///
/// Requests are counted over all connections, so "let 100 pass, then break 3" does not depend on how they are spread.
package struct FaultScript: Sendable {
  package struct Entry: Equatable, Sendable {
    package var fault: ServerFault
    /// Requests that pass before it.
    package var skip: Int
    /// Requests that it hits then.
    package var times: Int
    /// Before this moment it is inactive, and later entries apply. Monotonic nanoseconds.
    package var notBefore: UInt64

    package init(_ fault: ServerFault, skip: Int = 0, times: Int = 1, notBefore: UInt64 = 0) {
      self.fault = fault
      self.skip = skip
      self.times = times
      self.notBefore = notBefore
    }
  }

  package static let entriesMax = 10_000

  /// The waiting faults with their remaining counts.
  package private(set) var entries: [Entry] = []

  package init() {}

  /// Appends a fault.
  /// - Returns: false when the script is full.
  @discardableResult
  package mutating func append(_ entry: Entry) -> Bool {
    guard entries.count < Self.entriesMax else { return false }
    if entry.times > 0 { entries.append(entry) }
    return true
  }

  package mutating func removeAll() {
    entries = []
  }

  /// The fault of the next request; nil when it passes.
  mutating func next(now: UInt64) -> ServerFault? {
    guard let index = entries.firstIndex(where: { $0.notBefore <= now }) else { return nil }
    if entries[index].skip > 0 {
      entries[index].skip -= 1
      return nil
    }
    let fault = entries[index].fault
    entries[index].times -= 1
    if entries[index].times == 0 { entries.remove(at: index) }
    return fault
  }
}

/// A fault that happened, in the form of the control endpoint.
package struct FaultRecord: Codable, Equatable, Sendable {
  /// The kind of fault, as in orders.
  package let kind: String
  /// The time, in microseconds since 1970.
  package let atMicroseconds: Int64
  /// The connection's number since the start, from 1.
  package let connection: Int
  /// The stream of its request; nil for a fault of the whole connection.
  package let stream: Int32?
  /// That request's `apns-id` or `apns-request-id`, as sent.
  package let identifier: String?
  /// That request's device token, as sent.
  package let token: String?
  /// That request's number in the push log; nil without a judgement.
  package let push: Int?

  private enum CodingKeys: String, CodingKey {
    case kind, connection, stream, token, push
    case atMicroseconds = "at_us"
    case identifier = "apns_id"
  }
}

/// The faults that happened, also those of requests that are not in the push log.
package struct FaultLog: Sendable {
  package static let capacity = 10_000

  private var kept: Deque<FaultRecord> = []

  package init() {}

  /// The latest records, oldest first.
  package var records: [FaultRecord] { Array(kept) }

  mutating func append(_ record: FaultRecord) {
    if kept.count == Self.capacity { kept.removeFirst() }
    kept.append(record)
  }

  mutating func removeAll() {
    kept.removeAll()
  }
}

extension FaultRecord {
  init(_ fault: ServerFault, _ request: InspectedRequest, from origin: RequestOrigin, push: Int?) {
    self.init(
      kind: fault.kind.rawValue, atMicroseconds: origin.arrival.microseconds, connection: origin.connection,
      stream: origin.stream, identifier: request.value(of: "apns-id"),
      token: request.path.split(separator: "/").last.map(String.init), push: push)
  }

  /// A fault of a connection at this moment.
  init(_ fault: ServerFault, connection: Int) {
    self.init(
      kind: fault.kind.rawValue, atMicroseconds: SimulationClock.wall.microseconds, connection: connection,
      stream: nil, identifier: nil, token: nil, push: nil)
  }
}

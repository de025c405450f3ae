internal import DequeModule

/// One fault that happened, in the form in which the control endpoint shows it.
public struct FaultRecord: Codable, Equatable, Sendable {
  /// What happened, by the name it is ordered by.
  public let kind: String
  /// When, in microseconds since 1970.
  public let atMicroseconds: Int64
  /// The connection's number since the start, from 1.
  public let connection: Int
  /// The stream of the request that met it; nil when it happened to the connection as a whole.
  public let stream: Int32?
  /// That request's `apns-id`, as sent.
  public let identifier: String?
  /// That request's device token, as sent.
  public let token: String?
  /// That request's number in the push log; nil when it was not judged.
  public let push: Int?

  private enum CodingKeys: String, CodingKey {
    case kind, connection, stream, token, push
    case atMicroseconds = "at_us"
    case identifier = "apns_id"
  }
}

/// The faults that happened. What a fault swallowed is not in the push log; here it is.
public struct FaultLog: Sendable {
  /// Records kept; the oldest make room.
  public static let capacity = 10_000

  private var kept: Deque<FaultRecord> = []

  /// No faults.
  public init() {}

  /// The latest, oldest first.
  public var records: [FaultRecord] { Array(kept) }

  mutating func append(_ record: FaultRecord) {
    if kept.count == Self.capacity { kept.removeFirst() }
    kept.append(record)
  }

  mutating func removeAll() {
    kept.removeAll()
  }
}

extension FaultRecord {
  /// A fault that a request has met.
  init(_ fault: ServerFault, _ request: InspectedRequest, from origin: RequestOrigin, push: Int?) {
    self.init(
      kind: fault.kind.rawValue, atMicroseconds: origin.arrival.microseconds, connection: origin.connection,
      stream: origin.stream, identifier: request.value(of: "apns-id"),
      token: request.path.split(separator: "/").last.map(String.init), push: push)
  }

  /// A fault that happens to a connection now.
  init(_ fault: ServerFault, connection: Int) {
    self.init(
      kind: fault.kind.rawValue, atMicroseconds: SimulationClock.wall.microseconds, connection: connection,
      stream: nil, identifier: nil, token: nil, push: nil)
  }
}

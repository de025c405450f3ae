internal import DequeModule

/// Server faults waiting for their requests, in order.
///
/// Requests are counted over all connections: "let 100 pass, then break 3" means the same however they are spread.
public struct FaultScript: Sendable {
  /// A fault, the requests it lets pass first, and the requests it hits then.
  public struct Entry: Equatable, Sendable {
    /// What happens.
    public var fault: ServerFault
    /// Requests that pass unharmed before it.
    public var skip: Int
    /// Requests that it hits after that.
    public var times: Int
    /// Before this moment it neither counts nor hits; those behind it have their turn. Monotonic nanoseconds.
    public var notBefore: UInt64

    /// A fault for `times` requests, after `skip` have passed.
    public init(_ fault: ServerFault, skip: Int = 0, times: Int = 1, notBefore: UInt64 = 0) {
      self.fault = fault
      self.skip = skip
      self.times = times
      self.notBefore = notBefore
    }
  }

  /// Entries that may wait at once.
  public static let entriesMax = 10_000

  /// What is still to come, with what is left of each number.
  public private(set) var entries: [Entry] = []

  /// No faults.
  public init() {}

  /// Adds a fault after those that wait.
  /// - Returns: false when the script is full.
  @discardableResult
  public mutating func append(_ entry: Entry) -> Bool {
    guard entries.count < Self.entriesMax else { return false }
    if entry.times > 0 { entries.append(entry) }
    return true
  }

  /// Forgets what has not happened yet.
  public mutating func removeAll() {
    entries = []
  }

  /// The fault that the next request meets; nil lets it pass.
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

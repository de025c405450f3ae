internal import DequeModule

/// The requests received, the newest of them in full and all of them in numbers.
public struct PushLog: Sendable {
  /// Records kept unless configured otherwise: some 100 MB with ordinary payloads.
  public static let capacityDefault = 200_000

  /// Different outcomes counted on their own; scripted answers may invent reasons, and then the rest is `other`.
  private static let outcomesMax = 256

  private let capacity: Int
  private var kept: Deque<PushRecord> = []
  private var removed = 0

  /// Requests recorded since the start or the last ``removeAll()``, evicted ones included.
  public private(set) var total = 0

  /// How often each outcome was given, `200` or `400 BadDeviceToken`; eviction does not lower it.
  public private(set) var outcomes: [String: Int] = [:]

  /// What the devices show.
  public private(set) var screen: PushScreen

  /// An empty log.
  /// - Parameter capacity: records kept in full, at least 1.
  public init(capacity: Int = capacityDefault) {
    self.capacity = max(1, capacity)
    screen = PushScreen(capacity: self.capacity)
  }

  /// Adds a record, and evicts the oldest when the log is full.
  /// - Returns: the record's number.
  @discardableResult
  public mutating func append(_ record: PushRecord) -> Int {
    var record = record
    total += 1
    record.number = removed + kept.count + 1
    let outcome = record.reason.map { "\(record.status) \($0)" } ?? "\(record.status)"
    outcomes[outcomes[outcome] != nil || outcomes.count < Self.outcomesMax ? outcome : "other", default: 0] += 1
    screen.show(record)
    if kept.count == capacity {
      kept.removeFirst()
      removed += 1
    }
    kept.append(record)
    return record.number
  }

  /// Notes when a record's answer was handed to its connection; an evicted record stays as it was.
  public mutating func markAnswered(_ number: Int, at moment: WallInstant) {
    let index = number - removed - 1
    guard kept.indices.contains(index) else { return }
    kept[index].answeredMicroseconds = moment.microseconds
  }

  /// The records that match, oldest first, and where to go on.
  /// - Returns: `next`, the `after` of the next query: the last number that was looked at.
  public func records(_ query: PushQuery) -> (records: [PushRecord], next: Int) {
    var found: [PushRecord] = []
    var index = max(0, query.after - removed)
    while index < kept.count, found.count < min(query.limit, PushQuery.limitMax) {
      if query.matches(kept[index]) { found.append(kept[index]) }
      index += 1
    }
    return (found, max(query.after, removed + min(index, kept.count)))
  }

  /// Forgets records, counters and screens; numbers go on where they were.
  public mutating func removeAll() {
    removed += kept.count
    kept.removeAll()
    total = 0
    outcomes = [:]
    screen = PushScreen(capacity: capacity)
  }
}

/// Which records of the log are wanted: all conditions hold together, nil leaves one open.
public struct PushQuery: Equatable, Sendable {
  /// Records with a higher number than this.
  public var after = 0
  /// The device token, in either case.
  public var token: String?
  /// The collapse identifier.
  public var collapseID: String?
  /// The `apns-id`, in either case.
  public var identifier: String?
  /// Records at most.
  public var limit = PushQuery.limitDefault

  /// Enough for a script, and under a megabyte with ordinary payloads.
  public static let limitDefault = 1000
  /// 10,000 records of full size are 50 MB of JSON; more are fetched page by page.
  public static let limitMax = 10_000

  /// Every record, as many as a page holds.
  public init() {}

  func matches(_ record: PushRecord) -> Bool {
    if let token, record.token.lowercased() != token.lowercased() { return false }
    if let collapseID, record.collapseID != collapseID { return false }
    if let identifier, record.identifier.lowercased() != identifier.lowercased() { return false }
    return true
  }
}

internal import DequeModule

/// The received requests: the newest in full, and counters of all.
package struct PushLog: Sendable {
  /// The default number of records kept: some 100 MB with ordinary payloads.
  package static let capacityDefault = 200_000

  /// The most outcomes with a counter each. Scripted answers may invent reasons; further ones count as `other`.
  private static let outcomesMax = 256

  private let capacity: Int
  private var kept: Deque<PushRecord> = []
  private var removed = 0

  /// Requests since the start or the last ``removeAll()``, including evicted ones.
  package private(set) var total = 0

  /// The number of each outcome, such as `200` or `400 BadDeviceToken`, including evicted ones.
  package private(set) var outcomes: [String: Int] = [:]

  package private(set) var screen: PushScreen

  /// An empty log.
  /// - Parameter capacity: records kept in full, at least 1.
  package init(capacity: Int = capacityDefault) {
    self.capacity = max(1, capacity)
    screen = PushScreen(capacity: self.capacity)
  }

  /// Adds a record, and evicts the oldest when the log is full.
  /// - Returns: the record's number.
  @discardableResult
  package mutating func append(_ record: PushRecord) -> Int {
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

  /// Records when the connection got the response. Does nothing to an evicted record.
  package mutating func markAnswered(_ number: Int, at moment: WallInstant) {
    let index = number - removed - 1
    guard kept.indices.contains(index) else { return }
    kept[index].answeredMicroseconds = moment.microseconds
  }

  /// The matching records, oldest first.
  /// - Returns: `next` is the `after` of the next query, the last number searched.
  package func records(_ query: PushQuery) -> (records: [PushRecord], next: Int) {
    var found: [PushRecord] = []
    var index = max(0, query.after - removed)
    while index < kept.count, found.count < min(query.limit, PushQuery.limitMax) {
      if query.matches(kept[index]) { found.append(kept[index]) }
      index += 1
    }
    return (found, max(query.after, removed + min(index, kept.count)))
  }

  /// Removes records, counters and screens. Numbers continue.
  package mutating func removeAll() {
    removed += kept.count
    kept.removeAll()
    total = 0
    outcomes = [:]
    screen = PushScreen(capacity: capacity)
  }
}

/// A query of the log. All conditions must hold; nil is no condition.
package struct PushQuery: Equatable, Sendable {
  /// Only records with a higher number.
  package var after = 0
  /// The device token, in either case.
  package var token: String?
  package var collapseID: String?
  /// The `apns-id`, in either case.
  package var identifier: String?
  package var limit = PushQuery.limitDefault

  /// Less than a megabyte with ordinary payloads.
  package static let limitDefault = 1000
  /// 50 MB of JSON with records of full size. Fetch more in pages.
  package static let limitMax = 10_000

  package init() {}

  func matches(_ record: PushRecord) -> Bool {
    if let token, record.token.lowercased() != token.lowercased() { return false }
    if let collapseID, record.collapseID != collapseID { return false }
    if let identifier, record.identifier.lowercased() != identifier.lowercased() { return false }
    return true
  }
}

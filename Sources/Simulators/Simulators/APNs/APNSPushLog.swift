internal import DequeModule

/// The received requests: the newest in full, and counters of all.
package struct APNSPushLog: Sendable {
  /// The default number of records kept: some 100 MB with ordinary payloads.
  package static let capacityDefault = 200_000

  private let capacity: Int
  private var log: RecordLog<APNSPushRecord>
  private var counts = OutcomeCounts()

  package private(set) var screen: PushScreen

  /// An empty log.
  /// - Parameter capacity: records kept in full, at least 1.
  package init(capacity: Int = capacityDefault) {
    self.capacity = max(1, capacity)
    log = RecordLog(capacity: capacity)
    screen = PushScreen(capacity: self.capacity)
  }

  /// Requests since the start or the last ``removeAll()``, including evicted ones.
  package var total: Int { log.total }

  /// The number of each outcome, such as `200` or `400 BadDeviceToken`, including evicted ones.
  package var outcomes: [String: Int] { counts.counts }

  /// - Returns: the record's number.
  @discardableResult
  package mutating func append(_ record: APNSPushRecord) -> Int {
    var record = record
    record.number = log.nextNumber
    counts.count(record.status, record.reason)
    screen.show(record)
    log.append(record)
    return record.number
  }

  /// Records when the connection got the response.
  package mutating func markAnswered(_ number: Int, at moment: WallInstant) {
    log.update(number) { $0.answeredMicroseconds = moment.microseconds }
  }

  /// The matching records, oldest first, and the `after` of the next query.
  package func records(_ query: PushQuery) -> (records: [APNSPushRecord], next: Int) {
    log.records(after: query.after, limit: min(query.limit, PushQuery.limitMax), where: query.matches)
  }

  /// Removes records, counters and screens. Numbers continue.
  package mutating func removeAll() {
    log.removeAll()
    counts = OutcomeCounts()
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

  func matches(_ record: APNSPushRecord) -> Bool {
    if let token, record.token.lowercased() != token.lowercased() { return false }
    if let collapseID, record.collapseID != collapseID { return false }
    if let identifier, record.identifier.lowercased() != identifier.lowercased() { return false }
    return true
  }
}

/// A request and its response, in the form of the control endpoint.
package struct APNSPushRecord: Codable, Equatable, NumberedRecord {
  /// The request's number since the start, from 1, without gaps.
  package var number = 0
  /// When the request's last byte was read, in microseconds since 1970.
  package var arrivedMicroseconds: Int64
  /// When the connection got the response, in microseconds since 1970; nil if it did not.
  package var answeredMicroseconds: Int64?
  package var environment: SimulatedEnvironment
  /// The connection's number since the start, from 1.
  package var connection: Int
  package var stream: Int32
  /// The device token as sent; empty when there was none.
  package var token: String
  /// `apns-topic`. This and the next fields have their default, or nil, where the request had none.
  package var topic: String
  package var pushType: SimulatedPushType?
  /// `apns-priority`, 10 when absent.
  package var priority: Int
  /// `apns-expiration`, Unix seconds.
  package var expirationSeconds: Int64?
  /// Whether the service would store the push for an offline device, by its expiration at its arrival.
  package var isStored = false
  /// The response's `apns-id`.
  package var identifier: String
  package var collapseID: String?
  /// The beginning of the provider token's SHA-256, in hexadecimal.
  package var providerTokenHash: String?
  /// The body as text. Invalid UTF-8 is replaced.
  package var payload: String
  package var status: Int
  package var reason: String?

  private enum CodingKeys: String, CodingKey {
    case number, environment, connection, stream, token, topic, priority, payload, status, reason
    case arrivedMicroseconds = "arrived_us"
    case answeredMicroseconds = "answered_us"
    case pushType = "push_type"
    case expirationSeconds = "expiration"
    case isStored = "stored"
    case identifier = "apns_id"
    case collapseID = "collapse_id"
    case providerTokenHash = "jwt"
  }
}

package struct RequestOrigin: Equatable, Sendable {
  package var environment: SimulatedEnvironment
  /// The connection's number since the start, from 1.
  package var connection: Int
  package var stream: Int32
  /// When the request's last byte was read.
  package var arrival: WallInstant

  package init(environment: SimulatedEnvironment, connection: Int, stream: Int32, arrival: WallInstant) {
    self.environment = environment
    self.connection = connection
    self.stream = stream
    self.arrival = arrival
  }
}

extension APNSPushRecord {
  /// The record of a judged request before its response.
  init(_ request: InspectedRequest, from origin: RequestOrigin, judged verdict: PushVerdict) {
    self.init(
      arrivedMicroseconds: origin.arrival.microseconds,
      environment: origin.environment,
      connection: origin.connection,
      stream: origin.stream,
      token: verdict.push.token,
      topic: verdict.push.topic,
      pushType: verdict.push.pushType,
      priority: verdict.push.priority,
      expirationSeconds: verdict.push.expirationSeconds,
      isStored: verdict.status == 200 && verdict.isStored,
      identifier: verdict.identifier,
      collapseID: verdict.push.collapseID,
      providerTokenHash: verdict.push.providerTokenHash,
      payload: String(decoding: request.body, as: UTF8.self),
      status: verdict.status,
      reason: verdict.reason)
  }
}

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
  mutating func show(_ record: APNSPushRecord) {
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

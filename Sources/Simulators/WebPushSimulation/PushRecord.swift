internal import DequeModule

/// A request and its answer, in the form of the control endpoint.
package struct PushRecord: Codable, Equatable, Sendable {
  /// The request's number since the start, from 1, without gaps.
  package internal(set) var number = 0
  /// When it came, in milliseconds since 1970.
  package var arrivedMilliseconds: Int64
  /// The subscription's identifier, as in the path.
  package var subscription: String
  /// The status of the answer; 0 when the connection was closed instead.
  package var status: Int
  /// The service's word for a refusal; nil without one.
  package var reason: String?
  /// The decrypted content. Invalid UTF-8 is replaced. Nil for a push without content, and for one that cannot be decrypted.
  package var content: String?
  /// Why the browser cannot decrypt it, and so drops it silently; nil when it can.
  package var contentFault: String?
  package var bodyBytes: Int
  /// Padding inside the encryption, in bytes.
  package var paddingBytes: Int?
  /// `TTL` as accepted, in seconds. This and the next fields are nil in a refused request.
  package var timeToLive: Int64?
  /// `Urgency`, `normal` when absent.
  package var urgency: String?
  package var topic: String?
  /// `k` of VAPID.
  package var serverKey: String?
  /// `aud` of VAPID.
  package var audience: String?
  /// `sub` of VAPID.
  package var subject: String?
  /// `exp` of VAPID, Unix seconds.
  package var expiration: Double?

  private enum CodingKeys: String, CodingKey {
    case number, subscription, status, reason, content, urgency, topic
    case arrivedMilliseconds = "arrived_ms"
    case contentFault = "content_fault"
    case bodyBytes = "body_bytes"
    case paddingBytes = "padding_bytes"
    case timeToLive = "ttl"
    case serverKey = "vapid_key"
    case audience = "aud"
    case subject = "sub"
    case expiration = "exp"
  }
}

/// The received requests: the newest in full, and counters of all.
struct PushLog: Sendable {
  /// The most outcomes with a counter each. Scripted answers may invent reasons; further ones count as `other`.
  private static let outcomesMax = 256

  private let capacity: Int
  private var kept: Deque<PushRecord> = []
  private var removed = 0

  /// Requests since the start or the last ``removeAll()``.
  private(set) var total = 0
  /// The number of each outcome, such as `201` or `400 BadTtl`.
  private(set) var outcomes: [String: Int] = [:]

  /// - Parameter capacity: records kept in full, at least 1.
  init(capacity: Int) {
    self.capacity = max(1, capacity)
  }

  mutating func append(_ record: PushRecord) {
    var record = record
    total += 1
    record.number = removed + kept.count + 1
    let outcome = record.status == 0 ? "dropped" : record.reason.map { "\(record.status) \($0)" } ?? "\(record.status)"
    outcomes[outcomes[outcome] != nil || outcomes.count < Self.outcomesMax ? outcome : "other", default: 0] += 1
    if kept.count == capacity {
      kept.removeFirst()
      removed += 1
    }
    kept.append(record)
  }

  /// The matching records with a higher number, oldest first.
  /// - Parameter subscription: nil for all.
  func records(after number: Int, of subscription: String?, limit: Int) -> [PushRecord] {
    let matching = kept.dropFirst(max(0, number - removed)).lazy.filter {
      subscription == nil || $0.subscription == subscription
    }
    return Array(matching.prefix(limit))
  }

  /// Numbers continue.
  mutating func removeAll() {
    removed += kept.count
    kept.removeAll()
    total = 0
    outcomes = [:]
  }
}

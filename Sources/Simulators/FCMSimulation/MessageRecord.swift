/// A request to send and its answer, in the form of the control endpoint.
package struct MessageRecord: Codable, Equatable, Sendable {
  /// From 1, without gaps; continues after records were forgotten.
  package internal(set) var number = 0
  /// Simulated milliseconds since 1970.
  package internal(set) var arrivedMilliseconds: Int64
  /// The project of the path, as sent.
  package internal(set) var project: String
  /// The token or Firebase Installation ID; empty for a request that could not be read.
  package internal(set) var token = ""
  /// `projects/P/messages/ID` of an accepted message.
  package internal(set) var name: String?
  /// Whether it was only checked.
  package internal(set) var isTrial = false
  package internal(set) var status = 200
  /// FCM's `errorCode`, or Google's status, of a refused message.
  package internal(set) var reason: String?
  /// Whether it has a notification; otherwise it is data alone.
  package internal(set) var isNotification = false
  /// `HIGH` or `NORMAL`, as it is treated.
  package internal(set) var priority = "NORMAL"
  package internal(set) var ttlSeconds: Int64 = 0
  package internal(set) var collapseKey: String?
  /// `android.notification.tag`.
  package internal(set) var tag: String?
  /// The content as text. Invalid UTF-8 is replaced.
  package internal(set) var payload: String

  enum CodingKeys: String, CodingKey {
    case number, project, token, name, status, reason, priority, tag, payload
    case arrivedMilliseconds = "arrived_ms"
    case isTrial = "validate_only"
    case isNotification = "notification"
    case ttlSeconds = "ttl_s"
    case collapseKey = "collapse_key"
  }

  init(_ body: [UInt8], project: String, at milliseconds: Int64) {
    arrivedMilliseconds = milliseconds
    self.project = project
    payload = String(decoding: body, as: UTF8.self)
  }

  mutating func take(_ message: MessageInquiry) {
    token = message.token
    isTrial = message.isTrial
    isNotification = message.isNotification
    priority = message.isHigh ? "HIGH" : "NORMAL"
    ttlSeconds = message.ttlSeconds
    collapseKey = message.collapseKey
    tag = message.tag
  }

  mutating func take(_ refusal: GoogleError) {
    status = refusal.http
    reason = refusal.code ?? refusal.status
  }
}

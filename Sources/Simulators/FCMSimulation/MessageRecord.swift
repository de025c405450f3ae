/// A request to send and its answer, in the form of the control endpoint.
public struct MessageRecord: Codable, Equatable, Sendable {
  /// From 1, without gaps; continues after records were forgotten.
  public internal(set) var number = 0
  /// Simulated milliseconds since 1970.
  public internal(set) var arrivedMilliseconds: Int64
  /// The project of the path, as sent.
  public internal(set) var project: String
  /// The token or Firebase Installation ID; empty for a request that could not be read.
  public internal(set) var token = ""
  /// `projects/P/messages/ID` of an accepted message.
  public internal(set) var name: String?
  /// Whether it was only checked.
  public internal(set) var isTrial = false
  /// The HTTP status of the answer.
  public internal(set) var status = 200
  /// FCM's `errorCode`, or Google's status, of a refused message.
  public internal(set) var reason: String?
  /// Whether it has a notification; otherwise it is data alone.
  public internal(set) var isNotification = false
  /// `HIGH` or `NORMAL`, as it is treated.
  public internal(set) var priority = "NORMAL"
  /// The time to live, in seconds.
  public internal(set) var ttlSeconds: Int64 = 0
  /// `android.collapse_key`.
  public internal(set) var collapseKey: String?
  /// `android.notification.tag`.
  public internal(set) var tag: String?
  /// The content as text. Invalid UTF-8 is replaced.
  public internal(set) var payload: String

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

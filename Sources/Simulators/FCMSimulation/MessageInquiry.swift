/// A request to send that fits the schema, with what the stand-in needs of it.
struct MessageInquiry: Equatable {
  /// Google's limit of notification and data, in bytes of UTF-8, keys included.
  private static let payloadBytesMax = 4096

  /// Four weeks.
  private static let ttlSecondsMax: Int64 = 2_419_200

  /// Whether the message is only checked.
  let isTrial: Bool
  /// A registration token or a Firebase Installation ID.
  let token: String
  /// Whether the system shows it.
  let isNotification: Bool
  let title: String?
  let isHigh: Bool
  let ttlSeconds: Int64
  let collapseKey: String?
  let tag: String?
  let package: String?
  let data: [String: String]

  /// Reads a request and makes all checks that need no registry.
  init(_ body: [UInt8]) throws(GoogleError) {
    let request = try SchemaJudge.check(body)
    let message = request["message"] ?? .object([:])
    let android = message["android"] ?? message["android_v2"] ?? .object([:])
    isTrial = request["validate_only"] == .boolean(true)
    token = try Self.target(of: message)
    if message["android"] != nil, message["android_v2"] != nil {
      throw .invalid("AndroidConfig and AndroidConfigV2 cannot both be set.", field: "message.android_v2")
    }
    data = (android["data"] ?? message["data"] ?? .object([:])).texts
    try Self.check(data)
    ttlSeconds = try Self.ttl(android["ttl"]?.text)
    let common = message["notification"]?.texts ?? [:]
    let own = android["notification"] ?? android["remote_notification"]?["notification"]
    let size = (common.map { $0 } + data.map { $0 }).reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    guard size <= Self.payloadBytesMax else {
      throw .invalid("Message is too large. The maximum is 4K (4096 bytes).")
    }
    isNotification = message["notification"] != nil || own != nil
    title = own?["title"]?.text ?? common["title"]
    isHigh = android["priority"]?.text.map { $0 == "HIGH" } ?? isNotification
    collapseKey = android["collapse_key"]?.text
    tag = own?["tag"]?.text
    package = android["restricted_package_name"]?.text
    guard Self.isWellFormed(token) else {
      throw .invalid("The registration token is not a valid FCM registration token", field: "message.token")
    }
  }

  private static func target(of message: JSONValue) throws(GoogleError) -> String {
    if let target = message["token"]?.text ?? message["fid"]?.text { return target }
    guard message["topic"] == nil, message["condition"] == nil else {
      throw .invalid("Topics and conditions are not simulated.", field: "message")
    }
    throw .invalid("Recipient of the message is not set.", field: "message")
  }

  private static func check(_ data: [String: String]) throws(GoogleError) {
    let reserved = data.keys.filter {
      $0 == "from" || $0 == "message_type" || $0.hasPrefix("google.") || $0.hasPrefix("gcm.notification")
    }
    guard let key = reserved.min() else { return }
    throw .invalid("Invalid data payload key: \(key)", field: "message.data")
  }

  private static func ttl(_ text: String?) throws(GoogleError) -> Int64 {
    guard let duration = text.flatMap({ ProtobufDuration($0) }) else { return ttlSecondsMax }
    guard !duration.isNegative, duration.seconds <= ttlSecondsMax else {
      throw .invalid("TTL must be from 0s to 2419200s.", field: "message.android.ttl")
    }
    return duration.seconds
  }

  /// A token is `name:APA91b…`; a Firebase Installation ID has 22 characters of base64url.
  static func isWellFormed(_ token: String) -> Bool {
    token.utf8.count <= 1024
      && (token.contains(/^[A-Za-z0-9_-]+:APA91b[A-Za-z0-9_-]*$/)
        || token.contains(/^[A-Za-z0-9_-]{22}$/))
  }
}

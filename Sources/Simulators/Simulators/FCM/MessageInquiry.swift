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

/// Checks a request against ``MessageSchema``, as Google's protocol buffers do.
enum SchemaJudge {
  /// The targets of a message, of which a request has exactly one.
  private static let targets = ["fid", "token", "topic", "condition"]

  /// The request with the names of the protocol buffer and enumerations in upper case, without nulls.
  /// - Throws: 400 for a content that is not a JSON object, an unknown member, a wrong type, or two targets.
  static func check(_ body: [UInt8]) throws(GoogleError) -> JSONValue {
    guard let document = JSONValue(body), case .object = document else {
      throw .malformed("", "Invalid JSON payload received. Expected an object.")
    }
    let request = try check(document, as: .message(MessageSchema.request), at: "")
    let given = targets.filter { request["message"]?[$0] != nil }
    if given.count > 1 {
      throw .malformed(
        "message",
        "Invalid value at 'message' (oneof), oneof field 'target' is already set. Cannot set '\(given[1])'")
    }
    return request
  }

  private static func check(
    _ value: JSONValue, as type: SchemaType, at path: String
  ) throws(GoogleError) -> JSONValue {
    switch (type, value) {
    case (.string, .string), (.boolean, .boolean), (.float, .number), (.float, .integer), (.object, .object):
      return value
    case (.int32, _) where value.wholeNumber.map { Int32(exactly: $0) != nil } ?? false: return value
    case (.duration, .string(let text)) where ProtobufDuration(text) != nil: return value
    case (.timestamp, .string(let text))
    where text.contains(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/):
      return value
    case (.choice(_, let words), .string(let text)) where words.contains(text.uppercased()):
      return .string(text.uppercased())
    case (.texts, .object(let members)): return try checkTexts(members, at: path)
    case (.list(let type), .array(let values)): return try checkList(values, of: type, at: path)
    case (.message(let name), .object(let members)): return try checkMembers(members, of: name, at: path)
    default: throw .malformed(path, "Invalid value at '\(path)' (\(type.name)), \(value.shown)")
    }
  }

  private static func checkMembers(
    _ members: [String: JSONValue], of message: String, at path: String
  ) throws(GoogleError) -> JSONValue {
    var checked: [String: JSONValue] = [:]
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      guard let member = MessageSchema.member(name, of: message) else {
        let place = path.isEmpty ? "" : " at '\(path)'"
        throw .malformed(
          path, "Invalid JSON payload received. Unknown name \(name.debugDescription)\(place): Cannot find field.")
      }
      guard value != .null else { continue }
      checked[member.name] = try check(
        value, as: member.type, at: path.isEmpty ? member.name : "\(path).\(member.name)")
    }
    return .object(checked)
  }

  private static func checkTexts(
    _ members: [String: JSONValue], at path: String
  ) throws(GoogleError) -> JSONValue {
    for (index, member) in members.sorted(by: { $0.key < $1.key }).enumerated() {
      _ = try check(member.value, as: .string, at: "\(path)[\(index)].value")
    }
    return .object(members)
  }

  private static func checkList(
    _ values: [JSONValue], of type: SchemaType, at path: String
  ) throws(GoogleError) -> JSONValue {
    var checked: [JSONValue] = []
    for (index, value) in values.enumerated() { checked.append(try check(value, as: type, at: "\(path)[\(index)]")) }
    return .array(checked)
  }
}

extension SchemaType {
  /// As an error of Google names it.
  fileprivate var name: String {
    switch self {
    case .string: "TYPE_STRING"
    case .boolean: "TYPE_BOOL"
    case .int32: "TYPE_INT32"
    case .float: "TYPE_FLOAT"
    case .duration: "type.googleapis.com/google.protobuf.Duration"
    case .timestamp: "type.googleapis.com/google.protobuf.Timestamp"
    case .choice(let name, _), .message(let name): "type.googleapis.com/google.firebase.fcm.v1.\(name)"
    case .texts: "Map"
    case .object: "type.googleapis.com/google.protobuf.Struct"
    case .list: "list"
    }
  }
}

/// A duration as protocol buffers write it in JSON: seconds with at most nine digits behind the point, and `s`.
struct ProtobufDuration: Equatable {
  /// The range of `google.protobuf.Duration`, about 10 000 years.
  private static let secondsMax: Int64 = 315_576_000_000

  /// Whole seconds, rounded towards zero.
  let seconds: Int64

  let isNegative: Bool

  init?(_ text: String) {
    guard let match = text.wholeMatch(of: /(-?)([0-9]{1,12})(\.[0-9]{1,9})?s/), let seconds = Int64(match.2),
      seconds <= Self.secondsMax
    else { return nil }
    self.seconds = seconds
    let isZero = seconds == 0 && !(match.3 ?? "").contains { "1"..."9" ~= $0 }
    isNegative = !match.1.isEmpty && !isZero
  }
}

indirect enum SchemaType: Sendable {
  case string
  case boolean
  case int32
  case float
  /// `"3.5s"`, with at most nine digits behind the point.
  case duration
  case timestamp
  /// One of these words in any case, of an enumeration with this name.
  case choice(String, [String])
  /// An object whose values are texts.
  case texts
  case object
  case list(SchemaType)
  case message(String)
}

/// The members of a request to `messages:send`.
///
/// Source: the discovery document `fcm.v1`, revision 20261023, with the names of the protocol buffers. A request may
/// also have them in lowerCamelCase.
enum MessageSchema {
  static let request = "SendMessageRequest"

  /// The type of a member, by either name, and its name in the protocol buffer.
  static func member(_ name: String, of message: String) -> (name: String, type: SchemaType)? {
    members[message]?[name]
  }

  /// Both names of every member.
  private static let members: [String: [String: (name: String, type: SchemaType)]] = types.mapValues { members in
    var byName: [String: (name: String, type: SchemaType)] = [:]
    for (name, type) in members {
      byName[name] = (name, type)
      byName[camelCase(name)] = (name, type)
    }
    return byName
  }

  private static func camelCase(_ name: String) -> String {
    let words = name.split(separator: "_")
    return words.dropFirst().reduce(String(words[0])) { $0 + $1.prefix(1).uppercased() + $1.dropFirst() }
  }

  private static let types: [String: [String: SchemaType]] = [
    request: ["message": .message("Message"), "validate_only": .boolean],
    "Message": [
      "name": .string, "data": .texts, "notification": .message("Notification"), "android": .message("AndroidConfig"),
      "android_v2": .message("AndroidConfigV2"), "webpush": .message("WebpushConfig"), "apns": .message("ApnsConfig"),
      "fcm_options": .message("FcmOptions"), "token": .string, "fid": .string, "topic": .string, "condition": .string,
    ],
    "Notification": ["title": .string, "body": .string, "image": .string],
    "FcmOptions": ["analytics_label": .string],
    "AndroidConfig": android.merging(["priority": priority, "notification": .message("AndroidNotification")]) { $1 },
    "AndroidConfigV2": android.merging([
      "background_sync": .message("AndroidBackgroundSyncMessage"),
      "remote_notification": .message("AndroidRemoteNotification"),
    ]) { $1 },
    "AndroidBackgroundSyncMessage": [:],
    "AndroidRemoteNotification": [
      "mutable_content": .boolean, "use_as_v1_data_message": .boolean,
      "notification": .message("AndroidNotificationV2"),
    ],
    "AndroidNotification": androidNotification.merging(["bypass_proxy_notification": .boolean, "proxy": proxy]) { $1 },
    "AndroidNotificationV2": androidNotification.merging(["id": .int32]) { $1 },
    "LightSettings": [
      "color": .message("Color"), "light_on_duration": .duration, "light_off_duration": .duration,
    ],
    "Color": ["red": .float, "green": .float, "blue": .float, "alpha": .float],
    "WebpushConfig": [
      "headers": .texts, "data": .texts, "notification": .object, "fcm_options": .message("WebpushFcmOptions"),
    ],
    "WebpushFcmOptions": ["link": .string, "analytics_label": .string],
    "ApnsConfig": [
      "headers": .texts, "payload": .object, "fcm_options": .message("ApnsFcmOptions"), "live_activity_token": .string,
    ],
    "ApnsFcmOptions": ["analytics_label": .string, "image": .string],
  ]

  private static let android: [String: SchemaType] = [
    "collapse_key": .string, "ttl": .duration, "restricted_package_name": .string, "data": .texts,
    "fcm_options": .message("FcmOptions"), "direct_boot_ok": .boolean, "bandwidth_constrained_ok": .boolean,
    "restricted_satellite_ok": .boolean,
  ]

  private static let androidNotification: [String: SchemaType] = [
    "title": .string, "body": .string, "icon": .string, "color": .string, "sound": .string, "tag": .string,
    "click_action": .string, "body_loc_key": .string, "body_loc_args": .list(.string), "title_loc_key": .string,
    "title_loc_args": .list(.string), "channel_id": .string, "event_time": .timestamp, "local_only": .boolean,
    "notification_priority": notificationPriority, "default_sound": .boolean, "default_vibrate_timings": .boolean,
    "default_light_settings": .boolean, "vibrate_timings": .list(.duration), "visibility": visibility,
    "notification_count": .int32, "light_settings": .message("LightSettings"), "image": .string,
    "ticker": .string, "sticky": .boolean,
  ]

  private static let priority = SchemaType.choice("AndroidConfig.AndroidMessagePriority", ["NORMAL", "HIGH"])

  private static let notificationPriority = SchemaType.choice(
    "AndroidNotification.NotificationPriority",
    [
      "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH", "PRIORITY_MAX",
    ])

  private static let visibility = SchemaType.choice(
    "AndroidNotification.Visibility", ["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"])

  private static let proxy = SchemaType.choice(
    "AndroidNotification.Proxy", ["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"])
}

extension JSONValue {
  /// The member of an object; nil for none and for other values.
  subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The whole number, of a number or of a string of digits, as protocol buffers read both.
  var wholeNumber: Int64? {
    switch self {
    case .integer(let number): number
    case .string(let text): Int64(text)
    default: nil
    }
  }

  /// The texts of an object whose members are all texts; empty for other values.
  var texts: [String: String] {
    guard case .object(let members) = self else { return [:] }
    return members.compactMapValues(\.text)
  }

  /// As an error of Google shows it.
  var shown: String {
    switch self {
    case .null: "null"
    case .boolean(let truth): "\(truth)"
    case .integer(let number): "\(number)"
    case .number(let number): "\(number)"
    case .string(let text): text.debugDescription
    case .array: "a list"
    case .object: "an object"
    }
  }
}

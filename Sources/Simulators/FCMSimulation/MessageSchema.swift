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

enum SettingNames {
  /// The settings file; in the environment only.
  static let configFile = "TACET_CONFIG"

  private static let tables: [any Sendable] = [
    DatabaseSettings(), ProcessSettings(), HTTPSettings(), TLSTable(), WebhookSettings(), CallerSettings(), AppTable(),
    DefaultAppTable(), APNSTable(), WebPushTable(), FCMTable(), EventTable(), PolicySettings(), CampaignSettings(),
    LogSettings(), FileTable(),
  ]

  /// In the order of the tables.
  static let all = tables.flatMap { rows(of: $0) }.map(\.name)

  /// Those that an app can have for itself.
  static let ofApps = rows(of: AppTable()).map(\.name)

  static let secrets = Set(tables.flatMap { rows(of: $0) }.filter { $0.traits.contains(.secret) }.map(\.name))

  /// Beginnings of names that nothing but this service would use, so an unknown name with one of them is a typing
  /// error. Names like `LOG_…`, `DATABASE_…` and `HTTP_…` (`HTTP_PROXY`) are also those of other programs.
  static let ownPrefixes = [
    "APNS_", "BADGE_", "CONTENT_AUTH", "CONTENT_PRIVATE_", "CORS_", "DEVICES_PER_", "DRAIN_", "EVENTS_", "FCM_",
    "FOLD_",
    "HTTP_BODY_",
    "HTTP_CONNECTION",
    "HTTP_HEADER_", "HTTP_IDLE_", "HTTP_PEER_", "HTTP_REQUEST_", "HTTP_WRITE_", "JWKS_", "JWT_AUD", "JWT_ISS",
    "LANGUAGE_MODEL_", "LISTEN_ADDR", "LISTEN_SOCKET_", "MESSAGE_TTL", "METRICS_ADDR", "PUSH_TRIGGER_", "READ_SYNC_",
    "RETENTION_", "SHADOW", "SLOT_PUSHES_", "SUPPRESSION_", "TACET_", "TLS_CERT", "TLS_KEY", "TRUSTED_PROX", "VAPID_",
    "WEBHOOK_",
    "WEB_PUSH_",
  ]

  /// The known name that a mistyped one is most like: few letters differ, and more of the beginning is the same, since people
  /// leave endings off, or nearly all of the end.
  static func nearest(to name: String, among known: [String] = all) -> String {
    func unlikeness(_ other: String) -> Int {
      let beginning = zip(name.utf8, other.utf8).prefix { $0 == $1 }.count
      let end = zip(name.utf8.reversed(), other.utf8.reversed()).prefix { $0 == $1 }.count
      return distance(from: name, to: other) - max(beginning, 2 * end > name.utf8.count ? end : 0)
    }
    return known.min { unlikeness($0) < unlikeness($1) } ?? configFile
  }

  /// Whether a text is the word with a letter too many, too few, wrong or in the wrong place, in any case.
  static func isNearly(_ text: String, _ word: String) -> Bool {
    let text = text.lowercased()
    return distance(from: text, to: word) < 2 || text.sorted() == word.sorted()
  }

  /// Insertions, deletions and replacements that turn one name into the other (Levenshtein's distance).
  private static func distance(from one: String, to other: String) -> Int {
    let other = Array(other.utf8)
    var previous = Array(0...other.count)
    for (row, byte) in one.utf8.enumerated() {
      var current = [row + 1]
      for (column, otherByte) in other.enumerated() {
        let replaced = previous[column] + (byte == otherByte ? 0 : 1)
        current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
      }
      previous = current
    }
    return previous[other.count]
  }
}

internal import FoundationEssentials
package import Postgres
package import Reactors

/// Flags of all slot campaigns, as apps know them. Rows of `tacet.notif_config` replace the defaults.
package struct SlotFlags: Codable, Equatable, Sendable {
  /// Where the texts of campaigns with a content URL come from.
  package enum Mode: String, Codable, Sendable {
    /// Fetched once before a slot is due.
    case onlineFirst = "online_first"
    /// Only stored ones.
    case offlineFirst = "offline_first"
  }

  /// Which scheduler apps use: `auto`.
  package var scheduler = "auto"
  package var mode = Mode.onlineFirst
  /// How long before it is due a slot's content is fetched; 1 to 1440.
  package var prefetchLeadMinutes = 20
  /// How long fetched content may be used; up to 14 days.
  package var ttlSeconds = 86_400
  /// The category of notifications whose campaign names none.
  package var iosCategoryIdentifier = "TS_DAILY"
  /// The channel of notifications on Android. A channel that apps have made keeps its id for ever.
  package var androidChannelId = "daily_reminders"
  /// What the system's settings call that channel.
  package var androidChannelName = "Daily reminders"
  /// What prefetches in apps: `none` or `background-runner`.
  package var prefetchRunner = "none"
  /// Whether that runner arms notifications again.
  package var runnerRearm = false
  /// Where pictures are whose names campaigns have: an https URL that ends with `/`; nil for no pictures.
  package var imageBaseURL: String?

  package init() {}

  /// Reads a JSON object. Members that are absent have their defaults.
  package init(from decoder: any Decoder) throws {
    let values = try decoder.container(keyedBy: CodingKeys.self)
    func read<Value: Decodable>(_ key: CodingKeys, into value: inout Value) throws {
      value = try values.decodeIfPresent(Value.self, forKey: key) ?? value
    }
    try read(.scheduler, into: &scheduler)
    try read(.mode, into: &mode)
    try read(.prefetchLeadMinutes, into: &prefetchLeadMinutes)
    try read(.ttlSeconds, into: &ttlSeconds)
    try read(.iosCategoryIdentifier, into: &iosCategoryIdentifier)
    try read(.androidChannelId, into: &androidChannelId)
    try read(.androidChannelName, into: &androidChannelName)
    try read(.prefetchRunner, into: &prefetchRunner)
    try read(.runnerRearm, into: &runnerRearm)
    try read(.imageBaseURL, into: &imageBaseURL)
  }

  /// How long before it is due a slot may be rendered.
  package var lead: Duration { .seconds(60 * prefetchLeadMinutes) }
  package var timeToLive: Duration { .seconds(ttlSeconds) }
}

extension PushDatabase {
  /// The flags of slot campaigns. The table's check refuses unknown flags and unusable values.
  package func configFlags(on reactor: isolated Reactor) async throws(PostgresError) -> SlotFlags {
    let text: String = try await pool.query(.configFlags, on: reactor).one().decode("flags")
    guard let flags = try? JSONDecoder().decode(SlotFlags.self, from: Data(text.utf8)) else {
      preconditionFailure("tacet.notif_config has a value that its check refuses")
    }
    return flags
  }
}

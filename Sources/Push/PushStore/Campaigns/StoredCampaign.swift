/// An hour at which a campaign looks at everybody of a zone, once.
public struct CampaignSlot: Equatable, Sendable {
  /// The campaign's name.
  public let campaign: String
  /// The zone, by its name in the tz database.
  public let timeZone: String
  /// The day in that zone, as `2026-11-22`.
  public let localDay: String
  /// The hour, microseconds since 1970.
  public let dueAt: Int64
}

/// A campaign as the database has it.
public struct StoredCampaign: Equatable, Sendable {
  /// Its name.
  public let name: String
  /// What it is, as JSON.
  public let definition: String
  /// Whether users' hours make it run; otherwise only requests do.
  public let isScheduled: Bool
}

public import FoundationEssentials

/// A user whom a campaign looks at on one of the user's days, once.
public struct CampaignTurn: Equatable, Sendable {
  /// The campaign's name.
  public let campaign: String
  /// The user.
  public let userID: UUID
  /// The user's day, as `2026-11-22`.
  public let localDay: String
  /// Claims so far, this one included. It fences what is decided: a later claim has a higher number.
  public let attempts: Int
  /// The user's zone, by its name in the tz database.
  public let timeZone: String
  /// The hour that is served, microseconds since 1970.
  public let dueAt: Int64
  /// Whether the hour is too long ago.
  public let isLate: Bool

  /// Describes one.
  public init(
    campaign: String, userID: UUID, localDay: String, attempts: Int = 0, timeZone: String, dueAt: Int64,
    isLate: Bool = false
  ) {
    self.campaign = campaign
    self.userID = userID
    self.localDay = localDay
    self.attempts = attempts
    self.timeZone = timeZone
    self.dueAt = dueAt
    self.isLate = isLate
  }
}

/// What the database says before anything is written for a user.
public enum CampaignStanding: Equatable, Sendable {
  /// Something keeps the campaign back: its reason, as the record names it.
  case refused(String)
  /// Nothing does. What is known of the user, as JSON; and the clock, microseconds since 1970.
  case allowed(material: String, now: Int64)
}

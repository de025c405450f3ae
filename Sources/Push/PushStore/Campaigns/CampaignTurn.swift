public import FoundationEssentials
public import PushKinds

/// A user whom a campaign looks at on one of the user's days, once.
public struct CampaignTurn: Equatable, Sendable {
  /// The campaign's name.
  public let campaign: String
  /// The user.
  public let userID: HostID
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
    campaign: String, userID: HostID, localDay: String, attempts: Int = 0, timeZone: String, dueAt: Int64,
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

/// What a campaign wants to tell a user.
public struct CampaignPush: Equatable, Sendable {
  /// The kind that ledger and payload name.
  public var pushType: String
  /// The first line.
  public var title: String
  /// The text.
  public var body: String
  /// The payload's own members, as a JSON object.
  public var data: String
  /// What the ledger keeps beside the words, as a JSON object; nothing personal.
  public var metadata: String

  /// Describes one.
  public init(pushType: String, title: String, body: String, data: String, metadata: String) {
    self.pushType = pushType
    self.title = title
    self.body = body
    self.data = data
    self.metadata = metadata
  }
}

/// The outcome of a written push.
public enum CampaignCommit: Equatable, Sendable {
  /// It is queued, under this id.
  case committed(UUID)
  /// Something keeps it back by now.
  case refused(String)
}

/// A decision that sends nothing.
public enum CampaignRefusal: String, Equatable, Sendable {
  /// There was nothing to send, or a rule was against it.
  case skipped
  /// Something that should have worked did not.
  case failed
}

/// What is recorded of a decision, beside the push.
public struct CampaignFindings: Equatable, Sendable {
  /// The layer that has written it; nil without one.
  public var layer: String?
  /// What the rules were given, as a JSON object without any text of anybody.
  public var inputs: String
  /// What it cost.
  public var usage: CampaignUsage

  /// Joins them.
  public init(layer: String? = nil, inputs: String = "{}", usage: CampaignUsage = CampaignUsage()) {
    self.layer = layer
    self.inputs = inputs
    self.usage = usage
  }
}

/// An hour at which a campaign looks at all users of a zone, once.
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

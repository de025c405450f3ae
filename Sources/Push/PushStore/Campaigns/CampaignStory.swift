public import APNSCore
public import FoundationEssentials
internal import Postgres
public import PushKinds
public import Reactors

/// What a campaign decided about one user: what an explanation is made of. All times are microseconds since 1970.
public struct CampaignStory: Equatable, Sendable, Decodable {
  /// Whether there is such a campaign.
  public var isKnown: Bool
  /// When it was read.
  public var now: Int64
  /// What would keep the campaign back now; nil when nothing would.
  public var standing: String?
  /// The days on which the user was looked at, the newest first.
  public var days: [CampaignDayFacts]
  /// The user's slots; nil when the campaign has none for the user.
  public var slots: [SlotFacts]?
  /// What the slots say, the latest first; nil without any.
  public var rows: [SlotRowFacts]?

  /// Describes a story.
  public init(
    isKnown: Bool = true, now: Int64, standing: String? = nil, days: [CampaignDayFacts] = [],
    slots: [SlotFacts]? = nil, rows: [SlotRowFacts]? = nil
  ) {
    self.isKnown = isKnown
    self.now = now
    self.standing = standing
    self.days = days
    self.slots = slots
    self.rows = rows
  }
}

/// One of a user's days on which a campaign looked at them.
public struct CampaignDayFacts: Equatable, Sendable, Decodable {
  /// The day, as `2026-11-22`.
  public var localDay: String
  /// The zone whose day it is.
  public var timeZone: String
  /// Claims so far.
  public var attempts: Int
  /// The run that noted the user.
  public var runID: UUID
  /// The hour that was served.
  public var dueAt: Int64
  /// When the user was noted.
  public var enrolledAt: Int64
  /// When it was decided; nil while it is not.
  public var decidedAt: Int64?
  /// `committed`, `skipped` or `failed`; nil while nothing is decided.
  public var decision: String?
  /// Why nothing was sent.
  public var reason: String?
  /// The layer that had something to say.
  public var layer: String?
  /// What the rules were given.
  public var inputs: PayloadObject
  /// Tokens that language models read for it.
  public var inputTokens: Int
  /// Tokens that they wrote.
  public var outputTokens: Int
  /// What that cost, in millionths of a dollar.
  public var costMicrodollars: Int
  /// The push that was queued.
  public var pushID: UUID?
  /// Its outcome; nil until it is recorded.
  public var push: CampaignPushFacts?
}

/// The ledger's row of a campaign's push.
public struct CampaignPushFacts: Equatable, Sendable, Decodable {
  /// The row's id.
  public var logID: UUID
  /// Its type.
  public var pushType: String
  /// `sent`, `held`, `skipped` or `failed`.
  public var decision: String
  /// Why it was not sent.
  public var reason: String?
  /// Its title and body, a line each.
  public var content: String?
  /// Whether the user tapped it.
  public var opened: Bool
  /// When APNs took it.
  public var sentAt: Int64?
}

extension PushDatabase {
  /// What a campaign decided about a user. One ``OperatorLook``.
  /// - Parameter day: the one day to tell about, as `2026-11-22`; nil for the newest.
  /// - Throws: `PostgresError`.
  public func campaignStory(
    of userID: HostID, campaign: String, day: String?, on reactor: isolated Reactor
  ) async throws -> CampaignStory {
    try await look(on: reactor) {
      try await $0.query(.campaignStory(campaign: campaign, userID: userID, localDay: day), on: reactor).one()
        .decode(0, as: ExplainedDocument<CampaignStory>.self).content
    }
  }
}

/// How far a run has come. Times are microseconds since 1970.
public struct CampaignRunStatus: Equatable, Sendable, Codable {
  /// The campaign's name.
  public var campaign: String
  /// Users it noted.
  public var enrolled: Int
  /// When it began.
  public var startedAt: Int64
  /// Undecided users.
  public var undecided: Int
  /// Users for whom a push was queued.
  public var committed: Int
  /// Users for whom there was nothing to send.
  public var skipped: Int
  /// Users for whom something did not work.
  public var failed: Int
  /// How many were skipped or failed for each reason.
  public var reasons: [String: Int]
  /// Tokens that language models read.
  public var inputTokens: Int
  /// Tokens that they wrote.
  public var outputTokens: Int
  /// What that cost, in millionths of a dollar.
  public var costMicrodollars: Int
  /// When the newest decision was made; nil when there is none.
  public var finishedAt: Int64?
}

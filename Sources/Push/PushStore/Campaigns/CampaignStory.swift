package import FoundationEssentials
internal import Postgres
package import PushRules
package import Reactors

/// What a campaign decided about one user: what an explanation is made of. All times are microseconds since 1970.
package struct CampaignStory: Equatable, Sendable, Decodable {
  package var isKnown: Bool = true
  /// When it was read.
  package var now: Int64
  /// What would keep the campaign back now; nil when nothing would.
  package var standing: String?
  /// The days on which the user was looked at, the newest first.
  package var days: [CampaignDayFacts] = []
  /// The user's slots; nil when the campaign has none for the user.
  package var slots: [SlotFacts]?
  /// What the slots say, the latest first; nil without any.
  package var rows: [SlotRowFacts]?
}

/// One of a user's days on which a campaign looked at them.
package struct CampaignDayFacts: Equatable, Sendable, Decodable {
  /// The day, as `2026-11-22`.
  package var localDay: String
  package var timeZone: String
  /// Claims so far.
  package var attempts: Int
  package var runID: UUID
  /// The hour that was served.
  package var fireAt: Int64
  /// When the user was enrolled.
  package var renderedAt: Int64
  /// When it was decided; nil while it is not.
  package var decidedAt: Int64?
  /// `committed`, `skipped` or `failed`; nil while nothing is decided.
  package var decision: String?
  package var reason: String?
  /// The layer that had something to say.
  package var layer: String?
  /// What the rules were given.
  package var inputs: PayloadObject
  package var inputTokens: Int
  package var outputTokens: Int
  package var costMicrodollars: Int
  package var pushID: UUID?
  /// Its outcome; nil until it is recorded.
  package var push: CampaignPushFacts?
}

/// The ledger's row of a campaign's push.
package struct CampaignPushFacts: Equatable, Sendable, Decodable {
  package var logID: UUID
  package var pushType: String
  /// `sent`, `held`, `skipped` or `failed`.
  package var decision: String
  package var reason: String?
  /// Its title and body, a line each.
  package var content: String?
  package var opened: Bool
  /// When APNs took it.
  package var sentAt: Int64?
}

extension PushDatabase {
  /// What a campaign decided about a user. One ``OperatorLook``.
  /// - Parameter day: the one day to tell about, as `2026-11-22`; nil for the newest.
  /// - Throws: `PostgresError`.
  package func campaignStory(
    of userID: HostID, campaign: String, day: String?, on reactor: isolated Reactor
  ) async throws -> CampaignStory {
    try await look(on: reactor) {
      try await $0.query(.campaignStory(campaign: campaign, userID: userID, localDay: day), on: reactor).one()
        .decode(0, as: ExplainedDocument<CampaignStory>.self).content
    }
  }
}

/// How far a run has come. Times are microseconds since 1970.
package struct CampaignRunStatus: Equatable, Sendable, Codable {
  package var campaign: String
  package var enrolled: Int
  /// Whether no more users are to be enrolled.
  package var isEnrolled: Bool
  package var startedAt: Int64
  package var undecided: Int
  /// Users for whom a push was queued.
  package var committed: Int
  /// Users for whom there was nothing to send.
  package var skipped: Int
  package var failed: Int
  /// How many were skipped or failed for each reason.
  package var reasons: [String: Int]
  package var inputTokens: Int
  package var outputTokens: Int
  package var costMicrodollars: Int
  /// When the newest decision was made; nil when there is none.
  package var finishedAt: Int64?

  package var isFinished: Bool { isEnrolled && undecided == 0 }
}

/// A user's slot, for an explanation. Times are microseconds since 1970.
package struct SlotFacts: Equatable, Sendable, Decodable {
  /// The time of the day, as `0800`.
  package var slot: String
  /// Its phase; nil without phases.
  package var phase: String?
  package var isOn: Bool
  /// When it is due next; nil while it is off.
  package var nextFireAt: Int64?
}

/// An occasion of a slot, for an explanation. Times are microseconds since 1970.
package struct SlotRowFacts: Equatable, Sendable, Decodable {
  /// The time of the day, as `0800`.
  package var slot: String
  /// Its phase; nil without phases.
  package var phase: String?
  /// The user's day, as `2026-11-22`.
  package var localDay: String
  package var timeZone: String
  package var fireAt: Int64
  /// When its words were last rendered.
  package var renderedAt: Int64
  package var status: String
  package var reason: String?
  /// Its first line; nil when there was nothing to say.
  package var title: String?
  package var body: String?
  /// Devices that have reported that they will show it.
  package var armedBy: Int
  /// Claims so far.
  package var attempts: Int
  /// The outcome of its push; nil until it is recorded.
  package var push: CampaignPushFacts?
}

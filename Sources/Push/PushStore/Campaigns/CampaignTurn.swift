package import FoundationEssentials
package import PushRules

/// A user whom a campaign looks at on one of the user's days, once.
package struct CampaignTurn: Equatable, Sendable {
  package let campaign: String
  package let userID: HostID
  /// The user's day, as `2026-11-22`.
  package let localDay: String
  /// Claims so far, this one included. It fences what is decided: a later claim has a higher number.
  package let attempts: Int
  /// The user's zone, by its name in the tz database.
  package let timeZone: String
  /// The hour that is served, microseconds since 1970.
  package let dueAt: Int64
  package let isLate: Bool

  package init(
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
package enum CampaignStanding: Equatable, Sendable {
  /// Something keeps the campaign back: its reason, as the record names it.
  case refused(String)
  /// Nothing does. What is known of the user, as JSON; and the clock, microseconds since 1970.
  case allowed(material: String, now: Int64)
}

/// What a campaign wants to tell a user.
package struct WrittenCampaignPush: Equatable, Sendable {
  /// The kind that ledger and payload name.
  package var pushType: String
  package var title: String
  package var body: String
  /// The payload's own members, as a JSON object.
  package var data: String
  /// What the ledger keeps beside the words, as a JSON object; nothing personal.
  package var metadata: String

  package init(pushType: String, title: String, body: String, data: String, metadata: String) {
    self.pushType = pushType
    self.title = title
    self.body = body
    self.data = data
    self.metadata = metadata
  }
}

/// The outcome of a written push.
package enum CampaignCommit: Equatable, Sendable {
  /// It is queued, under this id.
  case committed(UUID)
  /// Something keeps it back by now.
  case refused(String)
}

/// A decision that sends nothing.
package enum CampaignRefusal: String, Equatable, Sendable {
  /// There was nothing to send, or a rule was against it.
  case skipped
  /// Something that should have worked did not.
  case failed
}

/// What is recorded of a decision, beside the push.
package struct CampaignFindings: Equatable, Sendable {
  /// The layer that has written it; nil without one.
  package var layer: String?
  /// What the rules were given, as a JSON object without any text of anybody.
  package var inputs: String
  package var usage: CampaignUsage

  package init(layer: String? = nil, inputs: String = "{}", usage: CampaignUsage = CampaignUsage()) {
    self.layer = layer
    self.inputs = inputs
    self.usage = usage
  }
}

/// An hour at which a campaign looks at all users of a zone, once.
package struct CampaignSlot: Equatable, Sendable {
  package let campaign: String
  /// The zone, by its name in the tz database.
  package let timeZone: String
  /// The day in that zone, as `2026-11-22`.
  package let localDay: String
  /// The hour, microseconds since 1970.
  package let dueAt: Int64
}

package struct StoredCampaign: Equatable, Sendable {
  package let name: String
  /// What it is, as JSON.
  package let definition: String
  /// Whether users' hours make it run; otherwise only requests do.
  package let isScheduled: Bool
}

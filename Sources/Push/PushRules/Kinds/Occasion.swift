/// A time of one of a user's days at which a campaign may push: a row of `tacet.occasions`, there or to come.
package struct Occasion: Equatable, Sendable {
  package let campaign: String
  package let userID: HostID
  /// The time of the day, as `0800`; empty for the one occasion of a day of a campaign that comes at an hour.
  package var slot: String
  /// Of several slots of a phase one a day is pushed; nil without phases.
  package var phase: String?
  /// The user's day, as `2026-11-22`.
  package let fireDate: String
  /// When it is due, microseconds since 1970.
  package let fireAt: Int64
  /// The user's zone, by its name in the tz database.
  package let timeZone: String
  /// The version of the slot that was read: what is written for one that has changed since has no effect. 0 for what is due.
  package var version: Int
  /// Claims so far, this one included. It fences what is written: a later claim has a higher number.
  package var attempts: Int
  /// Whether its time is too long ago, or a later occasion of the campaign is due too.
  package var isLate: Bool
  /// Its words so far, of slots; nil for others, and before it is rendered.
  package var words: OccasionWords?

  package init(
    campaign: String, userID: HostID, slot: String = "", phase: String? = nil, fireDate: String, fireAt: Int64,
    timeZone: String, version: Int = 0, attempts: Int = 0, isLate: Bool = false, words: OccasionWords? = nil
  ) {
    (self.campaign, self.userID, self.slot, self.phase) = (campaign, userID, slot, phase)
    (self.fireDate, self.fireAt, self.timeZone) = (fireDate, fireAt, timeZone)
    (self.version, self.attempts, self.isLate, self.words) = (version, attempts, isLate, words)
  }

  /// Of the local request and of the push of a slot: a device that gets both shows one.
  package var identifier: String { "\(campaign).\(slot).\(fireDate)" }
}

/// What an occasion says.
package struct OccasionWords: Equatable, Sendable {
  package var title: String
  package var body: String
  /// Of slots; empty for others.
  package var category: String
  /// The payload's own members, as a JSON object.
  package var data: String

  package init(title: String, body: String, category: String = "", data: String) {
    self.title = title
    self.body = body
    self.category = category
    self.data = data
  }
}

/// A time of the day at which a user has a campaign.
package struct UserSlot: Codable, Equatable, Sendable {
  /// The time of the day, as `0800`.
  package var slot: String
  /// Its phase; nil without phases.
  package var phase: String?
  /// Whether it is on, as long as the campaign is.
  package var isEnabled: Bool
  /// Days of ISO 8601, Monday is 1; nil for all.
  package var weekdays: [Int]?

  package init(slot: String, phase: String? = nil, isEnabled: Bool = true, weekdays: [Int]? = nil) {
    self.slot = slot
    self.phase = phase
    self.isEnabled = isEnabled
    self.weekdays = weekdays
  }

  private enum CodingKeys: String, CodingKey {
    case slot, phase, weekdays
    case isEnabled = "is_enabled"
  }
}

extension UserSlot {
  /// Of a time of the day such as `0800`: `0000` to `2359`.
  package static var slotForm: Regex<Substring> { /(?:[01][0-9]|2[0-3])[0-5][0-9]/ }

  package static func isSlot(_ text: String) -> Bool { text.wholeMatch(of: slotForm) != nil }
}

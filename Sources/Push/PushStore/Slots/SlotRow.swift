package import PushRules

/// What a slot of a user is to say on one of the user's days: a row of `tacet.notif_deliveries`, there or to come.
package struct SlotRow: Equatable, Sendable {
  package let campaign: String
  package let userID: HostID
  /// The time of the day, as `0800`.
  package let slot: String
  /// Of several slots of a phase one a day is pushed; nil without phases.
  package let phase: String?
  /// The user's day, as `2026-11-22`.
  package let fireDate: String
  /// When it is due, microseconds since 1970.
  package let fireAt: Int64
  /// The user's zone, by its name in the tz database.
  package let timeZone: String
  /// The version of the slot that was read: what is written for one that has changed since has no effect. 0 for a row that is due.
  package let version: Int
  /// Claims so far, this one included. It fences what is written: a later claim has a higher number.
  package let attempts: Int
  /// Whether its time is too long ago, or a later row of the campaign is due too.
  package let isLate: Bool
  /// Its words so far, of a campaign with a composer; nil for other campaigns, and before it is rendered.
  package let stored: RenderedText?

  package init(
    campaign: String, userID: HostID, slot: String, phase: String? = nil, fireDate: String, fireAt: Int64,
    timeZone: String, version: Int = 0, attempts: Int = 0, isLate: Bool = false, stored: RenderedText? = nil
  ) {
    self.campaign = campaign
    self.userID = userID
    self.slot = slot
    self.phase = phase
    self.fireDate = fireDate
    self.fireAt = fireAt
    self.timeZone = timeZone
    self.version = version
    self.attempts = attempts
    self.isLate = isLate
    self.stored = stored
  }
}

/// The words of a row.
package struct RenderedText: Equatable, Sendable {
  package var title: String
  package var body: String
  package var category: String
  /// The payload's own members, as a JSON object.
  package var data: String

  package init(title: String, body: String, category: String, data: String) {
    self.title = title
    self.body = body
    self.category = category
    self.data = data
  }
}

/// A row and its words; without words it is not pushed.
package struct RenderedRow: Equatable, Sendable {
  package var row: SlotRow
  /// Its words; nil when the campaign has none for this user.
  package var text: RenderedText?
  /// Why it is not pushed; nil when nothing is known against it.
  package var refusal: String?

  package init(_ row: SlotRow, _ text: RenderedText?, refusal: String? = nil) {
    self.row = row
    self.text = text
    self.refusal = refusal
  }
}

/// What a campaign knows of a user.
package struct SlotSituation: Equatable, Sendable {
  /// The user's zone; nil for a user outside of the campaign's audience.
  package let timeZone: String?
  /// Whether no device of the user may show anything.
  package let isDenied: Bool
  /// The material, as JSON; nil without any.
  package let material: String?

  package init(timeZone: String?, isDenied: Bool, material: String?) {
    self.timeZone = timeZone
    self.isDenied = isDenied
    self.material = material
  }
}

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

package struct UserSlots: Equatable, Sendable {
  /// Whether the user has the campaign on.
  package var isOn: Bool
  /// By their time.
  package var slots: [UserSlot]
  package var timeZone: String

  package init(isOn: Bool, slots: [UserSlot], timeZone: String) {
    self.isOn = isOn
    self.slots = slots
    self.timeZone = timeZone
  }
}

/// A row that a device is to show by itself.
package struct ScheduledRow: Equatable, Sendable {
  package let campaign: String
  /// The time of the day, as `0800`.
  package let slot: String
  /// The user's day, as `2026-11-22`.
  package let fireDate: String
  /// When it is due, microseconds since 1970.
  package let fireAt: Int64
  /// The same on the user's clock, as `2026-11-22T08:00:00`.
  package let localTime: String
  package let text: RenderedText
  /// How late or early the device's alarm may be, in seconds.
  package let toleranceSeconds: Int

  /// Of the local request and of the push: a device that gets both shows one.
  package var identifier: String { "\(campaign).\(slot).\(fireDate)" }
  /// Of the day's notifications of the campaign.
  package var threadID: String { "\(campaign).\(fireDate)" }
}

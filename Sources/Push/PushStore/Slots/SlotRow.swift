public import PushKinds

/// What a slot of a user is to say on one of the user's days: a row of `tacet.notif_deliveries`, there or to come.
public struct SlotRow: Equatable, Sendable {
  /// The campaign's name.
  public let campaign: String
  /// The user.
  public let userID: HostID
  /// The time of the day, as `0800`.
  public let slot: String
  /// Of several slots of a phase one a day is pushed; nil without phases.
  public let phase: String?
  /// The user's day, as `2026-11-22`.
  public let fireDate: String
  /// When it is due, microseconds since 1970.
  public let fireAt: Int64
  /// The user's zone, by its name in the tz database.
  public let timeZone: String
  /// The version of the slot that was read: what is written for one that has changed since has no effect. 0 for a row that is due.
  public let version: Int
  /// Claims so far, this one included. It fences what is written: a later claim has a higher number.
  public let attempts: Int
  /// Whether its time is too long ago, or a later row of the campaign is due too.
  public let isLate: Bool
  /// Its words so far, of a campaign with a composer; nil for other campaigns, and before it is rendered.
  public let stored: RenderedText?

  /// Describes one.
  public init(
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
public struct RenderedText: Equatable, Sendable {
  /// The first line.
  public var title: String
  /// The text.
  public var body: String
  /// The notification's category.
  public var category: String
  /// The payload's own members, as a JSON object.
  public var data: String

  /// Joins them.
  public init(title: String, body: String, category: String, data: String) {
    self.title = title
    self.body = body
    self.category = category
    self.data = data
  }
}

/// A row and its words; without words it is not pushed.
public struct RenderedRow: Equatable, Sendable {
  /// The row.
  public var row: SlotRow
  /// Its words; nil when the campaign has none for this user.
  public var text: RenderedText?
  /// Why it is not pushed; nil when nothing is known against it.
  public var refusal: String?

  /// Joins them.
  public init(_ row: SlotRow, _ text: RenderedText?, refusal: String? = nil) {
    self.row = row
    self.text = text
    self.refusal = refusal
  }
}

/// What a campaign knows of a user.
public struct SlotSituation: Equatable, Sendable {
  /// The user's zone; nil for a user outside of the campaign's audience.
  public let timeZone: String?
  /// Whether no device of the user may show anything.
  public let isDenied: Bool
  /// The material, as JSON; nil without any.
  public let material: String?

  /// Joins them.
  public init(timeZone: String?, isDenied: Bool, material: String?) {
    self.timeZone = timeZone
    self.isDenied = isDenied
    self.material = material
  }
}

/// A slot as a user has it.
public struct UserSlot: Codable, Equatable, Sendable {
  /// The time of the day, as `0800`.
  public var slot: String
  /// Its phase; nil without phases.
  public var phase: String?
  /// Whether it is on, as long as the campaign is.
  public var isEnabled: Bool
  /// Days of ISO 8601, Monday is 1; nil for all.
  public var weekdays: [Int]?

  /// Describes one.
  public init(slot: String, phase: String? = nil, isEnabled: Bool = true, weekdays: [Int]? = nil) {
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

/// A user's slots in a campaign.
public struct UserSlots: Equatable, Sendable {
  /// Whether the user has the campaign on.
  public var isOn: Bool
  /// By their time.
  public var slots: [UserSlot]
  /// The zone in which they are due.
  public var timeZone: String

  /// Joins them.
  public init(isOn: Bool, slots: [UserSlot], timeZone: String) {
    self.isOn = isOn
    self.slots = slots
    self.timeZone = timeZone
  }
}

/// A row that a device is to show by itself.
public struct ScheduledRow: Equatable, Sendable {
  /// The campaign's name.
  public let campaign: String
  /// The time of the day, as `0800`.
  public let slot: String
  /// The user's day, as `2026-11-22`.
  public let fireDate: String
  /// When it is due, microseconds since 1970.
  public let fireAt: Int64
  /// The same on the user's clock, as `2026-11-22T08:00:00`.
  public let localTime: String
  /// The words.
  public let text: RenderedText
  /// How late or early the device's alarm may be, in seconds.
  public let toleranceSeconds: Int

  /// Of the local request and of the push: a device that gets both shows one.
  public var identifier: String { "\(campaign).\(slot).\(fireDate)" }
  /// Of the day's notifications of the campaign.
  public var threadID: String { "\(campaign).\(fireDate)" }
}

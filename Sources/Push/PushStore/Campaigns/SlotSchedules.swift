package import FoundationEssentials
package import Postgres
package import PushRules
package import Reactors

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

/// An occasion that a device is to show by itself.
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
  /// When its words or its time have changed last, and what devices had armed was forgotten, microseconds since 1970.
  package let renderedAt: Int64
  package let text: OccasionWords
  /// How late or early the device's alarm may be, in seconds.
  package let toleranceSeconds: Int

  /// Of the local request and of the push: a device that gets both shows one.
  package var identifier: String { "\(campaign).\(slot).\(fireDate)" }
  /// Of the day's notifications of the campaign.
  package var threadID: String { "\(campaign).\(fireDate)" }
}

/// The outcome of a request to send what a slot says at once.
package enum SlotDelivery: Equatable, Sendable {
  /// The push is queued, under this id.
  case queued(UUID)
  case refused(String)
}

// What apps ask of slots.
extension PushDatabase {
  /// Follows a campaign's audience for a user: gives slots, moves them to another zone, or takes them away.
  package func followAudience(
    of campaign: String, defaults: [UserSlot], for userID: HostID, lead: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    try await pool.query(
      .followAudience(
        campaign: campaign, defaultSlots: Self.json(of: defaults), userID: userID,
        leadMicroseconds: lead.wholeMicroseconds), on: reactor)
  }

  /// The same for a page of users, in the order of their ids.
  /// - Parameters:
  ///   - areNew: users of the audience who have no slots, instead of users who have some.
  ///   - userID: the last one of the page before; nil for the first page.
  /// - Returns: the number of users who got slots, of those whose slots have changed, and the last user; nil on the last page.
  package func enrolSlots(
    of campaign: String, defaults: [UserSlot], areNew: Bool, after userID: HostID?, usersMax: Int, lead: Duration,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> (enrolled: Int, moved: Int, last: HostID?) {
    let call = StatementCall.enrolSlots(
      campaign: campaign, defaultSlots: Self.json(of: defaults), areNew: areNew, afterUserID: userID,
      usersMax: usersMax, leadMicroseconds: lead.wholeMicroseconds)
    let row = try await pool.query(call, on: reactor).one()
    return (try row.decode("enrolled"), try row.decode("moved"), try row.decode("last_user"))
  }

  /// A user's slots in a campaign; nil when there are none.
  package func slots(
    of campaign: String, for userID: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> UserSlots? {
    var found: UserSlots?
    for row in try await pool.query(.slotsOfUser(campaign: campaign, userID: userID), on: reactor) {
      if found == nil {
        found = UserSlots(isOn: try row.decode("is_on"), slots: [], timeZone: try row.decode("time_zone"))
      }
      let weekdays: [Int32] = try row.decode("weekdays")
      found?.slots.append(
        UserSlot(
          slot: try row.decode("slot"), phase: try row.decode("phase"), isEnabled: try row.decode("is_enabled"),
          weekdays: weekdays.count == 7 ? nil : weekdays.map(Int.init)))
    }
    return found
  }

  /// Replaces a user's slots in a campaign, and cancels the rows of those that are off or gone.
  package func choose(
    _ slots: UserSlots, of campaign: String, for userID: HostID, lead: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    try await pool.query(
      .chooseSlots(
        campaign: campaign, userID: userID, isOn: slots.isOn, chosen: Self.json(of: slots.slots),
        timeZone: slots.timeZone, leadMicroseconds: lead.wholeMicroseconds), on: reactor)
  }

  /// What a device of a user is to show, the soonest first.
  /// - Parameters:
  ///   - days: from today on.
  ///   - deviceToken: in lower case; nil when unknown.
  package func schedule(
    of userID: HostID, days: Int, rowsMax: Int, deviceToken: String?, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [ScheduledRow] {
    let call = StatementCall.schedule(
      userID: userID, days: Int32(clamping: days), rowsMax: rowsMax, deviceToken: deviceToken)
    return try await pool.query(call, on: reactor).map { row throws(PostgresError) in
      ScheduledRow(
        campaign: try row.decode("campaign"), slot: try row.decode("slot"), fireDate: try row.decode("fire_date"),
        fireAt: try row.decode("fire_us"), localTime: try row.decode("local_time"),
        renderedAt: try row.decode("rendered_us"),
        text: OccasionWords(
          title: try row.decode("title"), body: try row.decode("body"), category: try row.decode("category"),
          data: try row.decode("data")),
        toleranceSeconds: try row.decode("tolerance_seconds"))
    }
  }

  /// Whether a user's schedule was rendered within a pause.
  package func isScheduleRendered(
    of userID: HostID, within pause: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    let call = StatementCall.isScheduleRendered(userID: userID, pauseMicroseconds: pause.wholeMicroseconds)
    return try await pool.query(call, on: reactor).one().decode(0)
  }

  package func noteScheduleRendered(of userID: HostID, on reactor: isolated Reactor) async throws(PostgresError) {
    try await pool.query(.noteScheduleRendered(userID: userID), on: reactor)
  }

  /// Sends the occasion of a user's slot that was rendered last, at once.
  /// - Returns: the push, or the reason why there is none: `unknown_slot`, `nothing_stored`, `cooldown`, or what keeps pushes from the
  ///   user's devices.
  package func deliver(
    slot: String, of campaign: String, for userID: HostID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> SlotDelivery {
    let row = try await pool.query(.deliverSlot(campaign: campaign, userID: userID, slot: slot), on: reactor).one()
    if let refusal: String = try row.decode("refusal") { return .refused(refusal) }
    return .queued(try row.decode("push_id"))
  }

  private static func json(of slots: [UserSlot]) -> String {
    guard let data = try? JSONEncoder().encode(slots) else { preconditionFailure("slots cannot be encoded") }
    return String(decoding: data, as: UTF8.self)
  }
}

/// Flags of all slot campaigns, as apps know them. Rows of `tacet.notif_config` replace the defaults.
package struct SlotFlags: Equatable, Sendable {
  /// Where the texts of campaigns with a content URL come from.
  package enum Mode: String, Sendable {
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

  /// Members that are absent have their defaults.
  init(_ flags: PayloadObject) {
    scheduler = flags.text("scheduler") ?? scheduler
    mode = flags.text("mode").flatMap(Mode.init) ?? mode
    prefetchLeadMinutes = flags.integer("prefetchLeadMinutes").map { Int($0) } ?? prefetchLeadMinutes
    ttlSeconds = flags.integer("ttlSeconds").map { Int($0) } ?? ttlSeconds
    iosCategoryIdentifier = flags.text("iosCategoryIdentifier") ?? iosCategoryIdentifier
    androidChannelId = flags.text("androidChannelId") ?? androidChannelId
    androidChannelName = flags.text("androidChannelName") ?? androidChannelName
    prefetchRunner = flags.text("prefetchRunner") ?? prefetchRunner
    runnerRearm = flags["runnerRearm"]?.flag ?? runnerRearm
    imageBaseURL = flags.text("imageBaseURL")
  }

  /// How long before it is due a slot may be rendered.
  package var lead: Duration { .seconds(60 * prefetchLeadMinutes) }
  package var timeToLive: Duration { .seconds(ttlSeconds) }
}

extension PushDatabase {
  /// The flags of slot campaigns. The table's check refuses unknown flags and unusable values.
  package func configFlags(on reactor: isolated Reactor) async throws(PostgresError) -> SlotFlags {
    let text: String = try await pool.query(.configFlags, on: reactor).one().decode("flags")
    return SlotFlags(PayloadObject(reading: text.utf8) ?? [:])
  }
}

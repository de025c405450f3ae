internal import FoundationEssentials
package import Postgres
package import PushRules
package import Reactors

/// What a slot of a user is to say on one of the user's days: a row of `tacet.notif_deliveries`, there or to come.
package struct SlotRow: Equatable, Sendable {
  package let campaign: String
  package let userID: HostID
  /// The time of the day, as `0800`.
  package let slot: String
  /// Of several slots of a phase one a day is pushed; nil without phases.
  package var phase: String?
  /// The user's day, as `2026-11-22`.
  package let fireDate: String
  /// When it is due, microseconds since 1970.
  package let fireAt: Int64
  /// The user's zone, by its name in the tz database.
  package let timeZone: String
  /// The version of the slot that was read: what is written for one that has changed since has no effect. 0 for a row that is due.
  package var version: Int = 0
  /// Claims so far, this one included. It fences what is written: a later claim has a higher number.
  package var attempts: Int = 0
  /// Whether its time is too long ago, or a later row of the campaign is due too.
  package var isLate: Bool = false
  /// Its words so far, of a campaign with a composer; nil for other campaigns, and before it is rendered.
  package var stored: RenderedText?
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

// Slots and their rows, for the process that renders and pushes them; see db/functions/slots.sql and slot_rows.sql.
extension PushDatabase {
  /// Leases slots whose next row may be rendered.
  package func claimSlots(
    _ count: Int, lease: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [SlotRow] {
    try await slotRows(.claimSlots(slotsMax: count, leaseMicroseconds: lease.wholeMicroseconds), on: reactor)
  }

  /// Leases rows that are due.
  /// - Parameters:
  ///   - waitingMax: so many events wait in the inbox at most, these rows included.
  ///   - grace: how long after its time a row may be pushed.
  package func claimSlotRows(
    _ count: Int, waitingMax: Int, lease: Duration, grace: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [SlotRow] {
    try await slotRows(
      .claimSlotRows(
        rowsMax: count, waitingMax: waitingMax, leaseMicroseconds: lease.wholeMicroseconds,
        graceMicroseconds: grace.wholeMicroseconds),
      areStored: true, on: reactor)
  }

  /// The rows that a user's slots are due for: today's remaining and those of the next six days, the soonest first.
  /// - Parameters:
  ///   - isStored: whether only rows are returned that are stored and not pushed.
  ///   - lead: what is due sooner has its words so far.
  package func slotWindow(
    of userID: HostID, isStored: Bool, lead: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [SlotRow] {
    try await slotRows(
      .slotWindow(userID: userID, onlyStored: isStored, leadMicroseconds: lead.wholeMicroseconds), areStored: true,
      on: reactor)
  }

  private func slotRows(
    _ call: StatementCall, areStored: Bool = false, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [SlotRow] {
    try await pool.query(call, on: reactor).map { row throws(PostgresError) in
      SlotRow(
        campaign: try row.decode("campaign"), userID: try row.decode("user_id"), slot: try row.decode("slot"),
        phase: try row.decode("phase"), fireDate: try row.decode("fire_date"), fireAt: try row.decode("fire_us"),
        timeZone: try row.decode("time_zone"), version: try row.decode("version"),
        attempts: try row.decode("attempts"), isLate: try row.decode("is_late"),
        stored: areStored ? try storedText(row) : nil)
    }
  }

  private func storedText(_ row: PostgresRow) throws(PostgresError) -> RenderedText? {
    guard let title = try row.decode("title", as: String?.self) else { return nil }
    return RenderedText(
      title: title, body: try row.decode("body"), category: try row.decode("category"), data: try row.decode("data"))
  }

  /// What a campaign knows of users. A user whom its functions do not know is absent.
  package func slotSituations(
    of userIDs: [HostID], in campaign: String, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [HostID: SlotSituation] {
    var situations: [HostID: SlotSituation] = [:]
    for row in try await pool.query(.slotSituations(campaign: campaign, userIDs: userIDs), on: reactor) {
      situations[try row.decode("user_id")] = SlotSituation(
        timeZone: try row.decode("time_zone"), isDenied: try row.decode("is_denied"),
        material: try row.decode("material"))
    }
    return situations
  }

  package func dueSlotRows(upTo countMax: Int, on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    try await pool.query(.dueSlotRows(countMax: countMax), on: reactor).one().decode(0)
  }

  /// Writes rows of one campaign, or renders them anew. Rows of slots that have changed since they were read are left out.
  /// - Parameters:
  ///   - lead: ends the claims of the rows' slots: how long before it is due the next row may be rendered. Nil for slots without a claim.
  ///   - tellsDevices: whether devices of users whose rows have changed are asked to read their schedules.
  /// - Returns: the number of those users.
  @discardableResult
  package func write(
    _ rows: [RenderedRow], of campaign: String, advancing lead: Duration?, tellsDevices: Bool,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> Int {
    let call = StatementCall.writeSlotRows(
      campaign: campaign, userIDs: rows.map(\.row.userID), slots: rows.map(\.row.slot),
      versions: rows.map { Int32(clamping: $0.row.version) }, attempts: rows.map { Int32(clamping: $0.row.attempts) },
      phases: rows.map(\.row.phase),
      fireDates: rows.map(\.row.fireDate), fireMicroseconds: rows.map(\.row.fireAt),
      timeZones: rows.map(\.row.timeZone), refusals: rows.map(\.refusal), titles: rows.map(\.text?.title),
      bodies: rows.map(\.text?.body), categories: rows.map(\.text?.category), documents: rows.map(\.text?.data),
      leadMicroseconds: lead?.wholeMicroseconds, tells: tellsDevices)
    return try await pool.query(call, on: reactor).count
  }

  /// Ends the claims of slots of which nothing is written.
  /// - Parameter lead: how long before it is due the next row may be rendered.
  package func advance(
    _ rows: [SlotRow], of campaign: String, lead: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    try await pool.query(
      .advanceSlots(
        campaign: campaign, userIDs: rows.map(\.userID), slots: rows.map(\.slot),
        versions: rows.map { Int32(clamping: $0.version) }, attempts: rows.map { Int32(clamping: $0.attempts) },
        leadMicroseconds: lead.wholeMicroseconds), on: reactor)
  }

  /// Queues the pushes of claimed rows of one campaign, or ends the rows without one.
  ///
  /// Throws with the pushes either all queued or none, when the connection is lost meanwhile.
  /// - Parameter way: `push`, `local` or `auto`.
  /// - Returns: what was done with the rows by place: a status, and a reason without a push. A row that is not in it is another process's.
  package func commit(
    _ rows: [RenderedRow], of campaign: String, way: String, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [Int: (status: String, reason: String?)] {
    let call = StatementCall.commitSlotRows(
      campaign: campaign, way: way, userIDs: rows.map(\.row.userID), slots: rows.map(\.row.slot),
      fireDates: rows.map(\.row.fireDate), fireMicroseconds: rows.map(\.row.fireAt),
      attempts: rows.map { Int32(clamping: $0.row.attempts) },
      refusals: rows.map(\.refusal), titles: rows.map(\.text?.title), bodies: rows.map(\.text?.body),
      categories: rows.map(\.text?.category), documents: rows.map(\.text?.data))
    var outcomes: [Int: (status: String, reason: String?)] = [:]
    for row in try await pool.query(call, on: reactor) {
      let place: Int = try row.decode("place")
      outcomes[place - 1] = (try row.decode("status"), try row.decode("reason"))
    }
    return outcomes
  }

  /// How long until a slot may be rendered, and until a row is due; nil when none is to come.
  package func timeUntilNextSlot(
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> (rendering: Duration?, pushing: Duration?) {
    let row = try await pool.query(.nextSlot, on: reactor).one()
    return (try row.duration("rendering"), try row.duration("pushing"))
  }
}

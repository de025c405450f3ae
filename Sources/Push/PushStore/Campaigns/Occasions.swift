package import FoundationEssentials
package import Postgres
package import PushRules
package import Reactors

/// An occasion and what is to become of it; without words it is not pushed.
package struct DecidedOccasion: Equatable, Sendable {
  package var occasion: Occasion
  /// Nil when the campaign has nothing to say to this user.
  package var words: OccasionWords?
  /// Why it is not pushed; nil when nothing is known against it.
  package var refusal: String?
  /// The kind that ledger and payload name; nil for the campaign.
  package var pushType: String?
  /// What is recorded beside the push, as a JSON object without any text of anybody; nil for nothing.
  package var findings: String?

  package init(
    _ occasion: Occasion, _ words: OccasionWords?, refusal: String? = nil, pushType: String? = nil,
    findings: String? = nil
  ) {
    self.occasion = occasion
    self.words = words
    self.refusal = refusal
    self.pushType = pushType
    self.findings = findings
  }
}

/// Occasions that are claimed together.
package enum OccasionGroup: CaseIterable, Sendable {
  case slots
  /// Of campaigns that come at an hour and whose words are texts.
  case hours
  /// Of campaigns that come at an hour and for which a language model writes.
  case written

  var haveSlots: Bool { self == .slots }

  var areWritten: Bool? { haveSlots ? nil : self == .written }
}

/// What has become of an occasion.
package struct OccasionEnd: Equatable, Sendable {
  /// As in `tacet.occasions`.
  package let status: String
  /// Nil for one that is pushed, or that devices show.
  package let reason: String?
  package let pushID: UUID?
}

/// What a campaign knows of a user.
package struct CampaignSituation: Equatable, Sendable {
  /// The user's zone, of slots; nil for a user outside of the campaign's audience.
  package let timeZone: String?
  /// Why nothing is said to the user; nil when nothing is known against it.
  package let refusal: String?
  /// What is known, as JSON; nil without any.
  package let material: String?
  /// The database's clock, microseconds since 1970.
  package let now: Int64

  package init(timeZone: String? = nil, refusal: String?, material: String? = nil, now: Int64 = 0) {
    (self.timeZone, self.refusal, self.material, self.now) = (timeZone, refusal, material, now)
  }
}

// See db/functions/occasions.sql.
extension PushDatabase {
  /// Leases slots whose next occasion may be rendered.
  package func claimSlots(
    _ count: Int, lease: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [Occasion] {
    try await occasions(.claimSlots(slotsMax: count, leaseMicroseconds: lease.wholeMicroseconds), on: reactor)
  }

  /// Leases occasions that are due.
  /// - Parameters:
  ///   - waitingMax: so many events wait in the inbox at most, these occasions included.
  ///   - grace: how long after its time an occasion may be pushed.
  package func claimOccasions(
    _ count: Int, _ group: OccasionGroup, waitingMax: Int, lease: Duration, grace: Duration,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> [Occasion] {
    try await occasions(
      .claimOccasions(
        haveSlots: group.haveSlots, areWritten: group.areWritten, rowsMax: count, waitingMax: waitingMax,
        leaseMicroseconds: lease.wholeMicroseconds, graceMicroseconds: grace.wholeMicroseconds),
      haveWords: true, on: reactor)
  }

  /// Gives leases back, as if they had not been claimed.
  package func release(_ occasions: [Occasion], on reactor: isolated Reactor) async throws(PostgresError) {
    try await pool.query(
      .releaseOccasions(
        campaigns: occasions.map(\.campaign), userIDs: occasions.map(\.userID), slots: occasions.map(\.slot),
        fireDates: occasions.map(\.fireDate), attempts: occasions.map { Int32(clamping: $0.attempts) }), on: reactor)
  }

  /// The occasions of a user's slots: today's remaining and those of the next six days, the soonest first.
  /// - Parameters:
  ///   - isStored: whether only those are returned that are stored and not pushed.
  ///   - lead: what is due sooner has its words so far.
  package func slotWindow(
    of userID: HostID, isStored: Bool, lead: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [Occasion] {
    try await occasions(
      .slotWindow(userID: userID, onlyStored: isStored, leadMicroseconds: lead.wholeMicroseconds), haveWords: true,
      on: reactor)
  }

  private func occasions(
    _ call: StatementCall, haveWords: Bool = false, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [Occasion] {
    try await pool.query(call, on: reactor).map { row throws(PostgresError) in
      Occasion(
        campaign: try row.decode("campaign"), userID: try row.decode("user_id"), slot: try row.decode("slot"),
        phase: try row.decode("phase"), fireDate: try row.decode("fire_date"), fireAt: try row.decode("fire_us"),
        timeZone: try row.decode("time_zone"), version: try row.decode("version"),
        attempts: try row.decode("attempts"), isLate: try row.decode("is_late"),
        words: haveWords ? try words(row) : nil)
    }
  }

  private func words(_ row: PostgresRow) throws(PostgresError) -> OccasionWords? {
    guard let title = try row.decode("title", as: String?.self) else { return nil }
    return OccasionWords(
      title: title, body: try row.decode("body"), category: try row.decode("category"), data: try row.decode("data"))
  }

  /// What a campaign knows of users. A user whom its functions do not know is absent.
  /// - Parameter hour: of the occasion of a campaign that comes at an hour; nil for slots.
  package func situations(
    of userIDs: [HostID], in campaign: String, at hour: Occasion? = nil, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [HostID: CampaignSituation] {
    let call = StatementCall.campaignSituations(
      campaign: campaign, userIDs: userIDs, dueMicroseconds: hour?.fireAt, localDay: hour?.fireDate)
    var situations: [HostID: CampaignSituation] = [:]
    for row in try await pool.query(call, on: reactor) {
      situations[try row.decode("user_id")] = CampaignSituation(
        timeZone: try row.decode("time_zone"), refusal: try row.decode("refusal"),
        material: try row.decode("material"), now: try row.decode("now_us"))
    }
    return situations
  }

  package func dueOccasions(
    _ group: OccasionGroup, upTo countMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Int {
    let call = StatementCall.dueOccasions(
      haveSlots: group.haveSlots, areWritten: group.areWritten, countMax: countMax)
    return try await pool.query(call, on: reactor).one().decode(0)
  }

  /// Writes occasions of one campaign's slots, or renders them anew. Those of slots that have changed since they were read are left
  /// out.
  /// - Parameters:
  ///   - lead: ends the claims of the slots: how long before it is due the next occasion may be rendered. Nil for slots without a claim.
  ///   - tellsDevices: whether devices of users whose occasions have changed are asked to read their schedules.
  /// - Returns: the number of those users.
  @discardableResult
  package func prepare(
    _ rows: [DecidedOccasion], of campaign: String, advancing lead: Duration?, tellsDevices: Bool,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> Int {
    let call = StatementCall.prepareOccasions(
      campaign: campaign, userIDs: rows.map(\.occasion.userID), slots: rows.map(\.occasion.slot),
      versions: rows.map { Int32(clamping: $0.occasion.version) },
      attempts: rows.map { Int32(clamping: $0.occasion.attempts) },
      phases: rows.map(\.occasion.phase), fireDates: rows.map(\.occasion.fireDate),
      fireMicroseconds: rows.map(\.occasion.fireAt), timeZones: rows.map(\.occasion.timeZone),
      refusals: rows.map(\.refusal), titles: rows.map(\.words?.title), bodies: rows.map(\.words?.body),
      categories: rows.map(\.words?.category), documents: rows.map(\.words?.data),
      leadMicroseconds: lead?.wholeMicroseconds, tells: tellsDevices)
    return try await pool.query(call, on: reactor).count
  }

  /// Ends the claims of slots of which nothing is written.
  /// - Parameter lead: how long before it is due the next occasion may be rendered.
  package func advance(
    _ slots: [Occasion], of campaign: String, lead: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) {
    try await pool.query(
      .advanceSlots(
        campaign: campaign, userIDs: slots.map(\.userID), slots: slots.map(\.slot),
        versions: slots.map { Int32(clamping: $0.version) }, attempts: slots.map { Int32(clamping: $0.attempts) },
        leadMicroseconds: lead.wholeMicroseconds), on: reactor)
  }

  /// Queues the pushes of claimed occasions of one campaign, or ends them without one.
  ///
  /// Throws with the pushes either all queued or none, when the connection is lost meanwhile.
  /// - Parameter way: of slots `push`, `local` or `auto`.
  /// - Returns: what was done, by place. One that is not in it is another process's.
  package func commit(
    _ decided: [DecidedOccasion], of campaign: String, way: String = "push", on reactor: isolated Reactor
  ) async throws(PostgresError) -> [Int: OccasionEnd] {
    let call = StatementCall.commitOccasions(
      campaign: campaign, way: way, userIDs: decided.map(\.occasion.userID), slots: decided.map(\.occasion.slot),
      fireDates: decided.map(\.occasion.fireDate), fireMicroseconds: decided.map(\.occasion.fireAt),
      attempts: decided.map { Int32(clamping: $0.occasion.attempts) },
      refusals: decided.map(\.refusal), pushTypes: decided.map(\.pushType), titles: decided.map(\.words?.title),
      bodies: decided.map(\.words?.body), categories: decided.map(\.words?.category),
      documents: decided.map(\.words?.data), findings: decided.map(\.findings))
    var ends: [Int: OccasionEnd] = [:]
    for row in try await pool.query(call, on: reactor) {
      let place: Int = try row.decode("place")
      ends[place - 1] = OccasionEnd(
        status: try row.decode("status"), reason: try row.decode("reason"), pushID: try row.decode("push_id"))
    }
    return ends
  }

  /// How long until a slot may be rendered; nil when none is to come.
  package func timeUntilNextSlot(on reactor: isolated Reactor) async throws(PostgresError) -> Duration? {
    try await pool.query(.nextSlot, on: reactor).one().decode("wait")
  }

  /// How long until an occasion is due; nil when none is to come.
  package func timeUntilNextOccasion(
    of group: OccasionGroup, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Duration? {
    let call = StatementCall.nextOccasion(haveSlots: group.haveSlots, areWritten: group.areWritten)
    return try await pool.query(call, on: reactor).one().decode("wait")
  }
}

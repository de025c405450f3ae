package import FoundationEssentials
package import Postgres
package import PushRules
package import Reactors

/// A user whom a campaign looks at on one of the user's days, once.
package struct CampaignTurn: Equatable, Sendable {
  package let campaign: String
  package let userID: HostID
  /// The user's day, as `2026-11-22`.
  package let localDay: String
  /// Claims so far, this one included. It fences what is decided: a later claim has a higher number.
  package var attempts: Int = 0
  /// The user's zone, by its name in the tz database.
  package let timeZone: String
  /// The hour that is served, microseconds since 1970.
  package let dueAt: Int64
  package var isLate: Bool = false
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

// What a campaign's runs do. Everything is decided in the database, under locks; see 0018_campaigns.
extension PushDatabase {
  /// The campaigns that are active.
  package func campaigns(on reactor: isolated Reactor) async throws(PostgresError) -> [StoredCampaign] {
    try await pool.query(.campaigns, on: reactor).map(StoredCampaign.init)
  }

  /// The zones in which a campaign's audience lives, as the tz database spells them.
  package func zones(ofCampaign name: String, on reactor: isolated Reactor) async throws(PostgresError) -> [String] {
    try await pool.query(.campaignZones(campaign: name), on: reactor).map { row throws(PostgresError) in
      try row.decode(0)
    }
  }

  /// The hours of a campaign that have come in these zones and were not served.
  /// - Parameter minutes: after midnight, where the campaign names no time.
  package func dueSlots(
    of name: String, minutes: Int, zones: [String], on reactor: isolated Reactor
  ) async throws(PostgresError) -> [CampaignSlot] {
    let call = StatementCall.dueSlots(campaign: name, minutes: Int32(clamping: minutes), zones: zones)
    return try await pool.query(call, on: reactor).map { row throws(PostgresError) in
      CampaignSlot(
        campaign: name, timeZone: try row.decode("time_zone"), localDay: try row.decode("local_day"),
        dueAt: try row.decode("due_us"))
    }
  }

  /// Enrols the users whose hour this is, unless another process has served it.
  /// - Returns: the number of users enrolled.
  package func enrol(_ slot: CampaignSlot, on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    let call = StatementCall.enrolSlot(
      campaign: slot.campaign, timeZone: slot.timeZone, localDay: slot.localDay, dueMicroseconds: slot.dueAt)
    return try await pool.query(call, on: reactor).one().decode(0)
  }

  /// Enrols all users now, or one.
  /// - Returns: the run, and the number of users enrolled; nil when there is no such active campaign.
  package func enrol(
    _ name: String, onlyUser userID: HostID?, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (runID: UUID, enrolled: Int)? {
    let call = StatementCall.enrolCampaign(campaign: name, onlyUserID: userID)
    guard let row = try await pool.query(call, on: reactor).first else { return nil }
    return (try row.decode("run_id"), try row.decode("enrolled"))
  }

  /// The users whom a campaign would look at now. Nothing is written.
  /// - Returns: users in the order of their ids, and how many there are in all.
  package func eligible(
    for name: String, onlyUser userID: HostID?, usersMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (turns: [CampaignTurn], count: Int) {
    let call = StatementCall.eligibleForCampaign(campaign: name, onlyUserID: userID, usersMax: usersMax)
    let rows = try await pool.query(call, on: reactor)
    var turns: [CampaignTurn] = []
    for row in rows {
      turns.append(
        CampaignTurn(
          campaign: name, userID: try row.decode("user_id"), localDay: try row.decode("local_day"),
          timeZone: try row.decode("time_zone"), dueAt: try row.decode("now_us")))
    }
    return (turns, try rows.first?.decode("users") ?? 0)
  }

  /// How long until an hour of these campaigns comes or a lease of an undecided user ends; nil when neither is to come.
  /// - Parameter zones: of each campaign, as ``zones(ofCampaign:on:)`` returned them.
  package func timeUntilNextHour(
    minutes: Int, zones: [String: [String]], on reactor: isolated Reactor
  ) async throws(PostgresError) -> Duration? {
    let pairs = zones.flatMap { name, zones in zones.map { (name, $0) } }
    let call = StatementCall.nextHour(
      minutes: Int32(clamping: minutes), campaigns: pairs.map(\.0), zones: pairs.map(\.1))
    return try await pool.query(call, on: reactor).one().duration("wait")
  }

  /// Leases undecided users.
  /// - Parameter lateAfter: how long after its hour a decision may still be made.
  package func claimTurns(
    _ count: Int, lease: Duration, lateAfter: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [CampaignTurn] {
    let call = StatementCall.claimCampaignDecisions(
      decisionsMax: count, leaseMicroseconds: lease.wholeMicroseconds,
      lateAfterMicroseconds: lateAfter.wholeMicroseconds)
    return try await pool.query(call, on: reactor).map { row throws(PostgresError) in
      CampaignTurn(
        campaign: try row.decode("campaign"), userID: try row.decode("user_id"),
        localDay: try row.decode("local_day"), attempts: try row.decode("attempts"),
        timeZone: try row.decode("time_zone"), dueAt: try row.decode("due_us"), isLate: try row.decode("is_late"))
    }
  }

  /// Gives leases back, as if they had not been claimed.
  package func release(_ turns: [CampaignTurn], on reactor: isolated Reactor) async throws(PostgresError) {
    try await pool.query(
      .releaseCampaignDecisions(
        campaigns: turns.map(\.campaign), userIDs: turns.map(\.userID), localDays: turns.map(\.localDay),
        attempts: turns.map { Int32(clamping: $0.attempts) }), on: reactor)
  }

  /// Whether a user may be pushed now, and what is known of them.
  package func standing(
    of turn: CampaignTurn, on reactor: isolated Reactor
  ) async throws(PostgresError) -> CampaignStanding {
    let call = StatementCall.campaignMaterial(
      campaign: turn.campaign, userID: turn.userID, dueMicroseconds: turn.dueAt, localDay: turn.localDay)
    let row = try await pool.query(call, on: reactor).one()
    if let refusal: String = try row.decode("refusal") { return .refused(refusal) }
    return .allowed(material: try row.decode("material") ?? "{}", now: try row.decode("now_us"))
  }

  /// Ends a turn without a push.
  /// - Returns: whether it was still the caller's; otherwise nothing was written.
  @discardableResult
  package func decide(
    _ turn: CampaignTurn, _ refusal: CampaignRefusal, reason: String, _ findings: CampaignFindings,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    let usage = findings.usage
    let call = StatementCall.decideCampaign(
      campaign: turn.campaign, userID: turn.userID, localDay: turn.localDay,
      attempts: Int32(clamping: turn.attempts), decision: refusal.rawValue, reason: reason, layer: findings.layer,
      inputs: findings.inputs, inputTokens: usage.inputTokens, outputTokens: usage.outputTokens,
      costMicrodollars: usage.costMicrodollars)
    return try await pool.query(call, on: reactor).one().decode(0)
  }

  /// Ends a turn with a push, unless something keeps it back by now, or another process has the turn (`claim_lost`).
  ///
  /// Throws with the push either queued or not, when the connection is lost meanwhile; the turn's next claim finds out.
  package func commit(
    _ push: WrittenCampaignPush, for turn: CampaignTurn, _ findings: CampaignFindings, on reactor: isolated Reactor
  ) async throws(PostgresError) -> CampaignCommit {
    let usage = findings.usage
    let call = StatementCall.commitCampaignPush(
      campaign: turn.campaign, userID: turn.userID, localDay: turn.localDay,
      attempts: Int32(clamping: turn.attempts), layer: findings.layer, inputs: findings.inputs,
      pushType: push.pushType, title: push.title, body: push.body, data: push.data, metadata: push.metadata,
      inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, costMicrodollars: usage.costMicrodollars)
    let row = try await pool.query(call, on: reactor).one()
    if let reason: String = try row.decode("reason") { return .refused(reason) }
    return .committed(try row.decode("push_id"))
  }

  /// How far a run has come; nil when there is none.
  package func campaignRun(
    _ id: UUID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> CampaignRunStatus? {
    let row = try await pool.query(.campaignRun(runID: id), on: reactor).first
    return try row?.decode(0, as: ExplainedDocument<CampaignRunStatus>.self).content
  }
}

extension StoredCampaign {
  init(_ row: PostgresRow) throws(PostgresError) {
    self.init(
      name: try row.decode("name"), definition: try row.decode("definition"),
      isScheduled: try row.decode("is_scheduled"))
  }
}

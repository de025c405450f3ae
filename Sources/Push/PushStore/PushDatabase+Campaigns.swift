public import FoundationEssentials
public import Postgres
public import Reactors

// What a campaign's runs do. Everything is decided in the database, under locks; see 0018_campaigns.
extension PushDatabase {
  /// The campaigns that are active.
  public func campaigns(on reactor: isolated Reactor) async throws(PostgresError) -> [StoredCampaign] {
    var campaigns: [StoredCampaign] = []
    for row in try await pool.query(PushStatements.campaigns, [], on: reactor) {
      campaigns.append(
        StoredCampaign(name: try row.decode(0), definition: try row.decode(1), isScheduled: try row.decode(2)))
    }
    return campaigns
  }

  /// The zones in which a campaign's audience lives, as the tz database spells them.
  public func zones(ofCampaign name: String, on reactor: isolated Reactor) async throws(PostgresError) -> [String] {
    var zones: [String] = []
    for row in try await pool.query(PushStatements.campaignZones, [name], on: reactor) {
      zones.append(try row.decode(0))
    }
    return zones
  }

  /// The hours of a campaign that have come in these zones and that nobody has served.
  /// - Parameter minutes: after midnight, where the campaign names no time of its own.
  public func dueSlots(
    of name: String, minutes: Int, zones: [String], on reactor: isolated Reactor
  ) async throws(PostgresError) -> [CampaignSlot] {
    let rows = try await pool.query(PushStatements.dueSlots, [name, Int32(clamping: minutes), zones], on: reactor)
    var slots: [CampaignSlot] = []
    for row in rows {
      slots.append(
        CampaignSlot(campaign: name, timeZone: try row.decode(0), localDay: try row.decode(1), dueAt: try row.decode(2))
      )
    }
    return slots
  }

  /// Notes everybody whose hour this is, unless somebody else has served it.
  /// - Returns: how many users were noted.
  public func enrol(_ slot: CampaignSlot, on reactor: isolated Reactor) async throws(PostgresError) -> Int {
    let parameters: [any PostgresEncodable] = [slot.campaign, slot.timeZone, slot.localDay, slot.dueAt]
    return Int(try await pool.query(PushStatements.enrolSlot, parameters, on: reactor).one().decode(0, as: Int64.self))
  }

  /// Notes everybody now, or one user.
  /// - Returns: the run, and how many users it noted; nil when there is no such campaign that is active.
  public func enrol(
    _ name: String, onlyUser userID: UUID?, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (runID: UUID, enrolled: Int)? {
    guard let row = try await pool.query(PushStatements.enrolCampaign, [name, userID], on: reactor).first else {
      return nil
    }
    return (try row.decode(0), Int(try row.decode(1, as: Int32.self)))
  }

  /// Whom a campaign would look at now; nothing is noted.
  /// - Returns: users in the order of their ids, and how many there are in all.
  public func eligible(
    for name: String, onlyUser userID: UUID?, usersMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (turns: [CampaignTurn], count: Int) {
    let rows = try await pool.query(PushStatements.eligibleForCampaign, [name, userID, Int64(usersMax)], on: reactor)
    var turns: [CampaignTurn] = []
    for row in rows {
      turns.append(
        CampaignTurn(
          campaign: name, userID: try row.decode(0), localDay: try row.decode(2), timeZone: try row.decode(1),
          dueAt: try row.decode(4)))
    }
    return (turns, Int(try rows.first?.decode(3, as: Int64.self) ?? 0))
  }

  /// Leases users of whom nothing is decided.
  /// - Parameter lateAfter: how long after its hour a decision may still be made.
  public func claimTurns(
    _ count: Int, lease: Duration, lateAfter: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [CampaignTurn] {
    let rows = try await pool.query(
      PushStatements.claimCampaignDecisions, [Int64(count), lease.wholeMicroseconds, lateAfter.wholeMicroseconds],
      on: reactor)
    var turns: [CampaignTurn] = []
    for row in rows {
      turns.append(
        CampaignTurn(
          campaign: try row.decode(0), userID: try row.decode(1), localDay: try row.decode(2),
          attempts: Int(try row.decode(3, as: Int32.self)), timeZone: try row.decode(4), dueAt: try row.decode(5),
          isLate: try row.decode(6)))
    }
    return turns
  }

  /// Gives leases back, as if they had not been claimed.
  public func release(_ turns: [CampaignTurn], on reactor: isolated Reactor) async throws(PostgresError) {
    let parameters: [any PostgresEncodable] = [
      turns.map(\.campaign), turns.map(\.userID), turns.map(\.localDay), turns.map { Int32(clamping: $0.attempts) },
    ]
    _ = try await pool.query(PushStatements.releaseCampaignDecisions, parameters, on: reactor)
  }

  /// Whether a user may be pushed now, and what is known of them.
  public func standing(
    of turn: CampaignTurn, on reactor: isolated Reactor
  ) async throws(PostgresError) -> CampaignStanding {
    let row = try await pool.query(
      PushStatements.campaignMaterial, [turn.campaign, turn.userID, turn.dueAt, turn.localDay], on: reactor
    ).one()
    if let refusal: String = try row.decode(0) { return .refused(refusal) }
    return .allowed(material: try row.decode(1, as: String?.self) ?? "{}", now: try row.decode(2))
  }

  /// Ends a turn without a push.
  /// - Returns: whether it was still the caller's; otherwise nothing was written.
  @discardableResult
  public func decide(
    _ turn: CampaignTurn, _ refusal: CampaignRefusal, reason: String, _ findings: CampaignFindings,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    let parameters: [any PostgresEncodable] =
      turn.key + [refusal.rawValue, reason, findings.layer, findings.inputs] + findings.usage.parameters
    return try await pool.query(PushStatements.decideCampaign, parameters, on: reactor).one().decode(0)
  }

  /// Ends a turn with a push, unless something keeps it back by now, or the turn is somebody else's (`claim_lost`).
  ///
  /// Throws with the push either queued or not, when the connection is lost meanwhile; the turn's next claim finds out.
  public func commit(
    _ push: CampaignPush, for turn: CampaignTurn, _ findings: CampaignFindings, on reactor: isolated Reactor
  ) async throws(PostgresError) -> CampaignCommit {
    let parameters: [any PostgresEncodable] =
      turn.key
      + [findings.layer, findings.inputs, push.pushType, push.title, push.body, push.data, push.metadata]
      + findings.usage.parameters
    let row = try await pool.query(PushStatements.commitCampaignPush, parameters, on: reactor).one()
    if let reason: String = try row.decode(0) { return .refused(reason) }
    return .committed(try row.decode(1))
  }

  /// How far a run has come; nil when there is none.
  public func campaignRun(
    _ id: UUID, on reactor: isolated Reactor
  ) async throws(PostgresError) -> CampaignRunStatus? {
    let row = try await pool.query(PushStatements.campaignRun, [id], on: reactor).first
    return try row?.decode(0, as: ExplainedDocument<CampaignRunStatus>.self).content
  }
}

extension CampaignTurn {
  /// What names it in the statements that end it.
  fileprivate var key: [any PostgresEncodable] { [campaign, userID, localDay, Int32(clamping: attempts)] }
}

extension CampaignUsage {
  fileprivate var parameters: [any PostgresEncodable] {
    [Int64(inputTokens), Int64(outputTokens), Int64(costMicrodollars)]
  }
}

package import FoundationEssentials
package import Postgres
package import PushRules
package import Reactors

package struct StoredCampaign: Equatable, Sendable {
  package let name: String
  /// What it is, as JSON.
  package let definition: String
  /// Whether users' hours make it run; otherwise only requests do.
  package let isScheduled: Bool
}

/// An hour at which a campaign looks at all users of some zones, once; or the moment of a request that has users left.
package struct CampaignHour: Hashable, Sendable {
  package let campaign: String
  /// Microseconds since 1970.
  package let dueAt: Int64
  /// The zones in which the hour comes then, by their names in the tz database; nil of a request.
  package var zones: [String]?
  /// The run of a request; nil of an hour.
  package var request: UUID?
}

// The enrolments of campaigns that come at hours; see db/functions/campaign_hours.sql.
extension PushDatabase {
  /// The campaigns that are active.
  package func campaigns(on reactor: isolated Reactor) async throws(PostgresError) -> [StoredCampaign] {
    try await pool.query(.campaigns, on: reactor).map(StoredCampaign.init)
  }

  /// The hours of a campaign that have come and were not served, the earliest first.
  /// - Parameter minutes: after midnight, where the campaign names no time.
  package func dueHours(
    of name: String, minutes: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> [CampaignHour] {
    let call = StatementCall.dueHours(campaign: name, minutes: Int32(clamping: minutes))
    return try await pool.query(call, on: reactor).map { row throws(PostgresError) in
      CampaignHour(campaign: name, dueAt: try row.decode("due_us"), zones: try row.decode("zones"))
    }
  }

  /// The runs of requests that have more users to enrol.
  package func openRequests(on reactor: isolated Reactor) async throws(PostgresError) -> [CampaignHour] {
    try await pool.query(.openRequests, on: reactor).map { row throws(PostgresError) in
      CampaignHour(
        campaign: try row.decode("campaign"), dueAt: try row.decode("due_us"), request: try row.decode("id"))
    }
  }

  /// Enrols the next page of the users whose hour this is, whichever process has enrolled those before.
  /// - Returns: the number of users enrolled, and whether all are now, or another process enrols them.
  package func enrol(
    _ hour: CampaignHour, usersMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (enrolled: Int, isFinished: Bool) {
    let call = StatementCall.enrolCampaign(
      campaign: hour.campaign, dueMicroseconds: hour.dueAt, zones: hour.zones, request: hour.request,
      onlyUserID: HostID?.none, usersMax: usersMax)
    guard let row = try await pool.query(call, on: reactor).first else { return (0, true) }
    return (try row.decode("enrolled"), try row.decode("is_finished"))
  }

  /// Enrols a first page of all users now, or one.
  /// - Parameter usersMax: users of the page.
  /// - Returns: the run, and the number of users enrolled; nil when there is no such active campaign.
  package func enrol(
    _ name: String, onlyUser userID: HostID?, usersMax: Int = 2_500, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (runID: UUID, enrolled: Int)? {
    let call = StatementCall.enrolCampaign(
      campaign: name, dueMicroseconds: Int64?.none, zones: [String]?.none, request: UUID?.none, onlyUserID: userID,
      usersMax: usersMax)
    guard let row = try await pool.query(call, on: reactor).first else { return nil }
    return (try row.decode("run_id"), try row.decode("enrolled"))
  }

  /// The users whom a campaign would look at now. Nothing is written.
  /// - Returns: their occasions in the order of their ids, and how many there are in all.
  package func eligible(
    for name: String, onlyUser userID: HostID?, usersMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (occasions: [Occasion], count: Int) {
    let call = StatementCall.eligibleForCampaign(campaign: name, onlyUserID: userID, usersMax: usersMax)
    let rows = try await pool.query(call, on: reactor)
    var occasions: [Occasion] = []
    for row in rows {
      occasions.append(
        Occasion(
          campaign: name, userID: try row.decode("user_id"), fireDate: try row.decode("local_day"),
          fireAt: try row.decode("now_us"), timeZone: try row.decode("time_zone")))
    }
    return (occasions, try rows.first?.decode("users") ?? 0)
  }

  /// How long until an hour of these campaigns comes; nil when none is to come.
  package func timeUntilNextHour(
    of campaigns: [String], minutes: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Duration? {
    let call = StatementCall.nextHour(minutes: Int32(clamping: minutes), campaigns: campaigns)
    return try await pool.query(call, on: reactor).one().decode("wait")
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

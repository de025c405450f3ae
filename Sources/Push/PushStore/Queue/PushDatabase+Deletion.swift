public import Postgres
public import PushKinds
public import Reactors

/// A table whose rows are kept for a time and then deleted.
public enum PrunedTable: String, CaseIterable, Sendable {
  /// `tacet.push_log`, its finished rows.
  case ledger
  /// `tacet.parked`.
  case parked
  /// `tacet.trigger_failures`.
  case triggerFailures
  /// `tacet.surface_views`.
  case surfaceViews
  /// `tacet.read_syncs`.
  case readSyncs
  /// `tacet.pushes`.
  case pushes
  /// `tacet.cancellations`.
  case cancellations
  /// `tacet.instances`.
  case instances
  /// `tacet.unread_marks`.
  case unreadMarks
  /// `tacet.campaign_decisions`.
  case campaignDecisions
  /// `tacet.campaign_runs`.
  case campaignRuns
  /// `tacet.campaign_slots`.
  case campaignSlots
  /// `tacet.notif_deliveries`.
  case slotRows
  /// `tacet.notif_events`.
  case slotReports
  /// `tacet.notif_contents`.
  case contents
  /// `tacet.user_sessions`.
  case sessions
  /// `tacet.activities`, those that have ended, with all that belongs to them.
  case liveActivities
  /// `tacet.activity_updates` of those that run.
  case liveActivityUpdates
  /// `tacet.targets`, those that no push goes to any more.
  case targets
  /// `tacet.bursts`.
  case bursts
  /// `tacet.host_events`, those that have ended.
  case hostEvents
  /// `tacet.model_texts`.
  case modelTexts
  /// `tacet.row_texts`.
  case rowTexts
}

extension PushDatabase {
  /// Rows that a statement prunes at most.
  static let prunedRowsMax = 1000

  /// Deletes one batch of rows that are older than the retention, and than the table needs, by the database's clock.
  ///
  /// Throws ``PostgresError``; a batch that throws has deleted nothing, or, when the connection was lost while it ran,
  /// may have deleted all of it.
  /// - Returns: rows deleted, and whether the batch was full, so that more may be left.
  public func prune(
    _ table: PrunedTable, olderThan retention: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (rows: Int, isFull: Bool) {
    let call = table.pruning(retention: max(retention, table.neededFor).wholeMicroseconds)
    let count: Int = try await pool.query(call, on: reactor).one().decode(0)
    return (count, count >= Self.prunedRowsMax)
  }
}

extension PrunedTable {
  /// How long rows are kept whatever the retention is. A push may be cancelled as soon as it is asked for, and sent as late as its
  /// time and its life allow.
  var neededFor: Duration {
    guard self == .cancellations else { return .zero }
    return .seconds(ServicePushRequest.waitSecondsMax + ServicePushRequest.lifeSecondsMax)
  }

  func pruning(retention: Int64) -> StatementCall {
    switch self {
    case .ledger: .pruneLedger(retentionMicroseconds: retention)
    case .parked: .pruneParked(retentionMicroseconds: retention)
    case .triggerFailures: .pruneTriggerFailures(retentionMicroseconds: retention)
    case .surfaceViews: .pruneSurfaceViews(retentionMicroseconds: retention)
    case .readSyncs: .pruneReadSyncs(retentionMicroseconds: retention)
    case .pushes: .prunePushes(retentionMicroseconds: retention)
    case .cancellations: .pruneCancellations(retentionMicroseconds: retention)
    case .instances: .pruneInstances(retentionMicroseconds: retention)
    case .unreadMarks: .pruneUnreadMarks(retentionMicroseconds: retention)
    case .campaignDecisions: .pruneCampaignDecisions(retentionMicroseconds: retention)
    case .campaignRuns: .pruneCampaignRuns(retentionMicroseconds: retention)
    case .campaignSlots: .pruneCampaignSlots(retentionMicroseconds: retention)
    case .slotRows: .pruneNotifDeliveries(retentionMicroseconds: retention)
    case .slotReports: .pruneNotifEvents(retentionMicroseconds: retention)
    case .contents: .pruneContents(retentionMicroseconds: retention)
    case .sessions: .pruneSessions(retentionMicroseconds: retention)
    case .liveActivities: .pruneActivities(retentionMicroseconds: retention)
    case .liveActivityUpdates: .pruneActivityUpdates(retentionMicroseconds: retention)
    case .targets: .pruneTargets(retentionMicroseconds: retention)
    case .bursts: .pruneBursts(retentionMicroseconds: retention)
    case .hostEvents: .pruneHostEvents(retentionMicroseconds: retention)
    case .modelTexts: .pruneModelTexts(retentionMicroseconds: retention)
    case .rowTexts: .pruneRowTexts(retentionMicroseconds: retention)
    }
  }
}

/// What one pass over users who are to be forgotten has done.
public struct ErasurePass: Equatable, Sendable {
  /// Rows deleted, of all tables.
  public let rows: Int
  /// Users with no rows left, long enough after the first pass.
  public let finished: Int
  /// Whether another pass would find something to do at once.
  public let hasMore: Bool
}

extension PushDatabase {
  /// Deletes rows of users that the host has deleted. Locked rows stay until a later pass.
  /// - Parameter settled: how long after the first pass a push that was under way may still be recorded.
  public func eraseUsers(
    usersMax: Int, rowsMax: Int, settled: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> ErasurePass {
    let row = try await pool.query(
      .eraseUsers(usersMax: usersMax, rowsMax: rowsMax, settledMicroseconds: settled.wholeMicroseconds), on: reactor
    ).one()
    return ErasurePass(
      rows: try row.decode("erased"), finished: try row.decode("finished"), hasMore: try row.decode("has_more"))
  }

  /// Notes, of the next users in the order of their ids, those who are gone from `auth.users`; ``eraseUsers(usersMax:rowsMax:settled:on:)``
  /// forgets them.
  /// - Parameter after: the last id of the users looked at before; nil for the first.
  /// - Returns: the last id of these; nil when there are no more, or the host has no such table.
  public func queueGoneUsers(
    after: HostID?, usersMax: Int, on reactor: isolated Reactor
  ) async throws(PostgresError) -> HostID? {
    try await pool.query(.queueGoneUsers(afterID: after, usersMax: usersMax), on: reactor)
      .one().decode(0)
  }
}

public import Postgres
public import Reactors

/// A table whose rows are kept for a time and then deleted.
public enum PrunedTable: String, CaseIterable, Sendable {
  /// `public.push_log`, its finished rows.
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
}

extension PushDatabase {
  /// Deletes one batch of rows that are older than the retention, by the database's clock.
  ///
  /// Throws ``PostgresError``; a batch that throws has deleted nothing, or, when the connection was lost while it ran,
  /// may have deleted all of it.
  /// - Returns: rows deleted, and whether the batch was full, so that more may be left.
  public func prune(
    _ table: PrunedTable, olderThan retention: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (rows: Int, isFull: Bool) {
    let rows = try await pool.query(table.statement, [retention.wholeMicroseconds], on: reactor)
    let count = Int(try rows.one().decode(0, as: Int64.self))
    return (count, count >= PushStatements.pruneBatchRows)
  }
}

extension PrunedTable {
  /// What prunes it.
  var statement: PostgresStatement {
    switch self {
    case .ledger: PushStatements.pruneLedger
    case .parked: PushStatements.pruneParked
    case .triggerFailures: PushStatements.pruneTriggerFailures
    case .surfaceViews: PushStatements.pruneSurfaceViews
    case .readSyncs: PushStatements.pruneReadSyncs
    case .pushes: PushStatements.prunePushes
    case .instances: PushStatements.pruneInstances
    case .unreadMarks: PushStatements.pruneUnreadMarks
    case .campaignDecisions: PushStatements.pruneCampaignDecisions
    case .campaignRuns: PushStatements.pruneCampaignRuns
    case .campaignSlots: PushStatements.pruneCampaignSlots
    }
  }
}

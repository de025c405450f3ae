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
  /// Rows that a statement prunes at most.
  static let prunedRowsMax = 1000

  /// Deletes one batch of rows that are older than the retention, by the database's clock.
  ///
  /// Throws ``PostgresError``; a batch that throws has deleted nothing, or, when the connection was lost while it ran,
  /// may have deleted all of it.
  /// - Returns: rows deleted, and whether the batch was full, so that more may be left.
  public func prune(
    _ table: PrunedTable, olderThan retention: Duration, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (rows: Int, isFull: Bool) {
    let call = table.pruning(retention: retention.wholeMicroseconds)
    let count: Int = try await pool.query(call, on: reactor).one().decode(0)
    return (count, count >= Self.prunedRowsMax)
  }
}

extension PrunedTable {
  func pruning(retention: Int64) -> StatementCall {
    switch self {
    case .ledger: .pruneLedger(retentionMicroseconds: retention)
    case .parked: .pruneParked(retentionMicroseconds: retention)
    case .triggerFailures: .pruneTriggerFailures(retentionMicroseconds: retention)
    case .surfaceViews: .pruneSurfaceViews(retentionMicroseconds: retention)
    case .readSyncs: .pruneReadSyncs(retentionMicroseconds: retention)
    case .pushes: .prunePushes(retentionMicroseconds: retention)
    case .instances: .pruneInstances(retentionMicroseconds: retention)
    case .unreadMarks: .pruneUnreadMarks(retentionMicroseconds: retention)
    case .campaignDecisions: .pruneCampaignDecisions(retentionMicroseconds: retention)
    case .campaignRuns: .pruneCampaignRuns(retentionMicroseconds: retention)
    case .campaignSlots: .pruneCampaignSlots(retentionMicroseconds: retention)
    }
  }
}

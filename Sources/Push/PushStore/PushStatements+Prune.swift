internal import Postgres

// Rows that have been kept long enough, a batch at a time.
//
// `$1`: the retention in microseconds, by the database's clock; a row of exactly that age stays. Each returns how many
// rows it deleted; fewer than ``pruneBatchRows`` mean that nothing, or nothing free, is left. Rows that another session
// is writing or pruning are skipped, so any number of pruners share the work.
//
// The limit is a literal, and the rows are taken in the order of an index: of a parameter the planner would believe that
// it takes a tenth of the table, and without the order that old rows turn up at once wherever it begins to read.
extension PushStatements {
  /// A thousand neighbouring rows are some 30 pages of the ledger, which one statement deletes in a few milliseconds.
  static let pruneBatchRows = 1000

  /// Finished rows of the ledger by the age of their event. What is held is work that remains, and stays.
  static let pruneLedger = PostgresStatement(
    "prune_ledger", pruning("public.push_log", age: "r.enqueued_at", only: "r.decision <> 'held'"), [.int8])

  /// Errors of the triggers; those whose events are not yet in the inbox stay until they are.
  static let pruneTriggerFailures = PostgresStatement(
    "prune_trigger_failures", pruning("tacet.trigger_failures", age: "r.failed_at", only: "r.subject_ids = '{}'"),
    [.int8])

  /// What could never succeed and nobody has replayed.
  static let pruneParked = PostgresStatement(
    "prune_parked", pruning("tacet.parked", age: "r.parked_at"), [.int8])

  /// Views that nobody has renewed. Without an index on their times, which every look would have to change as well, each
  /// batch reads the table from its beginning: a tenth of a second for a million rows.
  static let pruneSurfaceViews = PostgresStatement(
    "prune_surface_views",
    pruning("tacet.surface_views", age: "greatest(r.last_seen, r.left_at)", hasIndex: false), [.int8])

  /// Reads that other devices were told of, or were not within the retention.
  static let pruneReadSyncs = PostgresStatement(
    "prune_read_syncs", pruning("tacet.read_syncs", age: "r.available_at"), [.int8])

  /// Pushes that servers asked for, and with them what makes a repeated request known.
  static let prunePushes = PostgresStatement(
    "prune_pushes", pruning("tacet.pushes", age: "r.created_at"), [.int8])

  /// Processes that have given no sign for so long.
  static let pruneInstances = PostgresStatement(
    "prune_instances", pruning("tacet.instances", age: "r.seen_at"), [.int8])

  /// Marks that nobody has made anew, because their users are told nothing any more.
  static let pruneUnreadMarks = PostgresStatement(
    "prune_unread_marks", pruning("tacet.unread_marks", age: "r.built_at", hasIndex: false), [.int8])

  /// Users whom campaigns looked at. Who is undecided for so long is gone as well.
  static let pruneCampaignDecisions = PostgresStatement(
    "prune_campaign_decisions", pruning("tacet.campaign_decisions", age: "r.enrolled_at"), [.int8])

  /// Runs of campaigns.
  static let pruneCampaignRuns = PostgresStatement(
    "prune_campaign_runs", pruning("tacet.campaign_runs", age: "r.started_at"), [.int8])

  /// Hours that were served.
  static let pruneCampaignSlots = PostgresStatement(
    "prune_campaign_slots", pruning("tacet.campaign_slots", age: "r.due_at"), [.int8])

  /// - Parameters:
  ///   - age: the time from which the retention of a row `r` counts. only: which rows; the others stay however old they
  ///     are. hasIndex: whether `age` has an index whose order finds the old rows.
  private static func pruning(
    _ table: String, age: String, only condition: String = "true", hasIndex: Bool = true
  ) -> String {
    """
    with pruned as (
      delete from \(table)
      where ctid = any (array(
        select r.ctid
        from \(table) r
        where \(age) < now() - $1::bigint * interval '1 microsecond' and \(condition)
        \(hasIndex ? "order by \(age)" : "")
        limit 1000
        for update skip locked
      ))
      returning 1
    )
    select count(*) from pruned
    """
  }
}

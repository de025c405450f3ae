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
    "prune_ledger",
    """
    with pruned as (
      delete from public.push_log
      where ctid = any (array(
        select l.ctid
        from public.push_log l
        where l.enqueued_at < now() - $1::bigint * interval '1 microsecond' and l.decision <> 'held'
        order by l.enqueued_at
        limit 1000
        for update skip locked
      ))
      returning 1
    )
    select count(*) from pruned
    """,
    [.int8])

  /// Errors of the triggers; those whose events are not yet in the inbox stay until they are.
  static let pruneTriggerFailures = PostgresStatement(
    "prune_trigger_failures",
    """
    with pruned as (
      delete from tacet.trigger_failures
      where ctid = any (array(
        select f.ctid
        from tacet.trigger_failures f
        where f.failed_at < now() - $1::bigint * interval '1 microsecond' and f.subject_ids = '{}'
        order by f.failed_at
        limit 1000
        for update skip locked
      ))
      returning 1
    )
    select count(*) from pruned
    """,
    [.int8])

  /// What could never succeed and nobody has replayed.
  static let pruneParked = PostgresStatement(
    "prune_parked",
    """
    with pruned as (
      delete from tacet.parked
      where ctid = any (array(
        select p.ctid
        from tacet.parked p
        where p.parked_at < now() - $1::bigint * interval '1 microsecond'
        order by p.parked_at
        limit 1000
        for update skip locked
      ))
      returning 1
    )
    select count(*) from pruned
    """,
    [.int8])

  /// Views that nobody has renewed. Without an index on their times, which every look would have to change as well, each
  /// batch reads the table from its beginning: a tenth of a second for a million rows.
  static let pruneSurfaceViews = PostgresStatement(
    "prune_surface_views",
    """
    with pruned as (
      delete from tacet.surface_views
      where ctid = any (array(
        select v.ctid
        from tacet.surface_views v
        where greatest(v.last_seen, v.left_at) < now() - $1::bigint * interval '1 microsecond'
        limit 1000
        for update skip locked
      ))
      returning 1
    )
    select count(*) from pruned
    """,
    [.int8])

  /// Reads that other devices were told of, or were not within the retention.
  static let pruneReadSyncs = PostgresStatement(
    "prune_read_syncs",
    """
    with pruned as (
      delete from tacet.read_syncs
      where ctid = any (array(
        select s.ctid
        from tacet.read_syncs s
        where s.available_at < now() - $1::bigint * interval '1 microsecond'
        order by s.available_at
        limit 1000
        for update skip locked
      ))
      returning 1
    )
    select count(*) from pruned
    """,
    [.int8])

  /// Pushes that servers asked for, and with them what makes a repeated request known.
  static let prunePushes = PostgresStatement(
    "prune_pushes",
    """
    with pruned as (
      delete from tacet.pushes
      where ctid = any (array(
        select p.ctid
        from tacet.pushes p
        where p.created_at < now() - $1::bigint * interval '1 microsecond'
        order by p.created_at
        limit 1000
        for update skip locked
      ))
      returning 1
    )
    select count(*) from pruned
    """,
    [.int8])
}

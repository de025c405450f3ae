internal import Postgres

// What operators look at. None of it may grow with the ledger: each table is read from one end of an index, and no
// further than a limit, which is a literal so that the planner knows it.
extension PushStatements {
  /// Rows of the ledger that an overview reads at the most: a tenth of a second, however many there are (measured with 1.5 million).
  static let overviewRows = 20_000

  /// Rows of a queue that are counted; one more says that there are more.
  static let countedRows = 10_000

  /// Bars of the chart.
  static let overviewSlices = 60

  /// The last hour of the ledger, or as much of it as its newest ``overviewRows`` tell of.
  ///
  /// Answers rows of three levels: 3, all together; 1, one for each of the slices that are not empty, counted from now
  /// back; 2, one for each decision and reason. Times are microseconds. The way is from the commit to APNs' acceptance, of
  /// what was sent at the first claim: a hold is no delay.
  static let overviewLedger = PostgresStatement(
    "overview_ledger",
    """
    with newest as materialized (
      select
        l.decision, l.reason,
        greatest(0, (extract(epoch from now() - l.enqueued_at) * 1000000)::bigint) as age_us,
        case when l.decision = 'sent' and l.attempts = 1 then \(wayMicroseconds) end as way_us
      from public.push_log l
      where l.enqueued_at > now() - interval '1 hour'
      order by l.enqueued_at desc
      limit \(overviewRows)
    ), reach as materialized (
      select greatest(\(overviewSlices), case when count(*) < \(overviewRows) then 3600000000 else max(n.age_us) end) as us
      from newest n
    ), placed as materialized (
      select n.*, least(\(overviewSlices) - 1, n.age_us / (r.us / \(overviewSlices))) as slice
      from newest n cross join reach r
    )
    select
      (select r.us from reach r), grouping(p.slice, p.decision)::bigint, p.slice, p.decision, p.reason,
      count(*) filter (where p.decision = 'sent'), count(*) filter (where p.decision = 'held'),
      count(*) filter (where p.decision = 'skipped'), count(*) filter (where p.decision = 'failed'),
      percentile_disc(0.5) within group (order by p.way_us), percentile_disc(0.99) within group (order by p.way_us),
      count(*) filter (where p.decision = 'sent' and p.age_us < 60000000),
      percentile_disc(0.5) within group (order by p.way_us) filter (where p.age_us < 60000000),
      percentile_disc(0.99) within group (order by p.way_us) filter (where p.age_us < 60000000)
    from placed p
    group by grouping sets ((), (p.slice), (p.decision, p.reason))
    """)

  /// What waits. Answers one row: events of the inbox and the age of the oldest, holds and the time until the first ends,
  /// retries and the time until the first is due, whether there are more of the two, and what is parked.
  static let overviewQueues = PostgresStatement(
    "overview_queues",
    """
    with events as materialized (
      (
        select i.enqueued_at
        from tacet.inbox i where not i.is_claimed order by i.available_at limit \(countedRows) + 1
      )
      union all
      (
        select i.enqueued_at
        from tacet.inbox i where i.is_claimed order by i.available_at limit \(countedRows) + 1
      )
    ), work as materialized (
      select d.state, (extract(epoch from d.due_at - now()) * 1000000)::bigint as due_us
      from tacet.deliveries d
      where d.state <> 'waiting'
      order by d.due_at
      limit \(countedRows) + 1
    ), parked as materialized (
      select from tacet.parked p order by p.parked_at limit \(countedRows) + 1
    )
    select
      (select count(*) from events),
      (select (extract(epoch from now() - min(e.enqueued_at)) * 1000000)::bigint from events e),
      count(*) filter (where w.state = 'held'), min(w.due_us) filter (where w.state = 'held'),
      count(*) filter (where w.state = 'retryable'), min(w.due_us) filter (where w.state = 'retryable'),
      count(*) > \(countedRows), (select count(*) from parked)
    from work w
    """)

  /// Lanes for which pushes wait, fifty at the most: how many, the age of the oldest, and why that one waits. The index
  /// is entered once for each lane, however many wait there.
  static let overviewLanes = PostgresStatement(
    "overview_lanes",
    """
    with recursive \(laneNames)
    select n.lane, c.waiting, (extract(epoch from now() - o.enqueued_at) * 1000000)::bigint, l.reason
    from (select x.lane from lane_names x where x.lane is not null limit 50) n
    cross join lateral (
      select count(*) as waiting
      from (
        select from tacet.deliveries d where d.state = 'waiting' and d.lane = n.lane limit \(countedRows) + 1
      ) w
    ) c
    cross join lateral (
      select d.subject_id, d.user_id, d.kind, d.enqueued_at
      from tacet.deliveries d
      where d.state = 'waiting' and d.lane = n.lane
      order by d.enqueued_at
      limit 1
    ) o
    left join public.push_log l on l.subject_id = o.subject_id and l.user_id = o.user_id and l.push_type = o.kind
    """)

  /// What was parked last, twenty at the most.
  static let overviewParked = PostgresStatement(
    "overview_parked",
    """
    select (extract(epoch from p.parked_at) * 1000000)::bigint, p.subject_id, p.kind, p.user_id, p.reason
    from tacet.parked p
    order by p.parked_at desc
    limit 20
    """)

  /// Processes of the service that were seen in the last minute and have not stopped, fifty at the most.
  static let overviewInstances = PostgresStatement(
    "overview_instances",
    """
    select
      i.host, i.pid::bigint, i.version, (extract(epoch from i.started_at) * 1000000)::bigint,
      (extract(epoch from now() - i.seen_at) * 1000000)::bigint
    from tacet.instances i
    where i.stopped_at is null and i.seen_at > now() - \(ServiceInstance.silentFrom.components.seconds) * interval '1 second'
    order by i.seen_at desc
    limit 50
    """)

  /// From the commit to APNs' acceptance of a row `l` of the ledger, in microseconds; null when there was none.
  static let wayMicroseconds = "(extract(epoch from l.sent_at - l.enqueued_at) * 1000000)::bigint"
}

-- Figures of the operators' page and of the metrics, and what keeps dead rows from being cleaned up.

-- name: overview_lanes
-- Returns lanes for which pushes wait, 50 at most: how many, up to 10001, the age of the oldest, and why that one
-- waits. The index is entered once for each lane, however many wait there.

with recursive lane_names as (
  -- include: lane_names
)
select n.lane as name, c.waiting, tacet.unix_us(now()) - tacet.unix_us(o.enqueued_at) as oldest_age, l.reason
from (select x.lane from lane_names x where x.lane is not null limit 50) n
cross join lateral (
  select count(*) as waiting
  from (
    select from tacet.deliveries d where d.state = 'waiting' and d.lane = n.lane limit 10001
  ) w
) c
cross join lateral (
  select d.subject_id, d.user_id, d.kind, d.enqueued_at
  from tacet.deliveries d
  where d.state = 'waiting' and d.lane = n.lane
  order by d.enqueued_at
  limit 1
) o
left join tacet.push_log l on l.subject_id = o.subject_id and l.user_id = o.user_id and l.push_type = o.kind;

-- name: overview_ledger
-- Summarises the last hour of the ledger, or as much of it as its newest 20000 rows cover: a tenth of a second, however
-- many rows there are (measured with 1.5 million).
--
-- Returns rows of three levels: 3, all together; 1, one for each of the 60 slices that is not empty, counted from now
-- back; 2, one for each decision and reason. Times are in microseconds. The latency is from the commit to the
-- acceptance by APNs, of pushes that were sent at the first claim: a hold is no delay.
--
-- About all overview_… statements: nothing may grow with the ledger. Each table is read from one end of an index, up to
-- a limit, which is a literal so that the planner knows it.

with newest as materialized (
  select
    l.decision, l.reason,
    greatest(0, tacet.unix_us(now()) - tacet.unix_us(l.enqueued_at)) as age_us,
    case when l.decision = 'sent' and l.attempts = 1
      then tacet.unix_us(l.sent_at) - tacet.unix_us(l.enqueued_at)
    end as latency_us
  from tacet.push_log l
  where l.enqueued_at > now() - interval '1 hour'
  order by l.enqueued_at desc
  limit 20000
), reach as materialized (
  select greatest(60, case when count(*) < 20000 then 3600000000 else max(n.age_us) end) as us
  from newest n
), placed as materialized (
  select n.*, least(59, n.age_us / (r.us / 60)) as slice
  from newest n cross join reach r
)
select
  (select r.us from reach r) as span_us, grouping(p.slice, p.decision)::bigint as level, p.slice, p.decision, p.reason,
  count(*) filter (where p.decision = 'sent') as sent, count(*) filter (where p.decision = 'held') as held,
  count(*) filter (where p.decision = 'skipped') as skipped,
  count(*) filter (where p.decision = 'failed') as failed,
  percentile_disc(0.5) within group (order by p.latency_us) as median_us,
  percentile_disc(0.99) within group (order by p.latency_us) as percentile99_us,
  count(*) filter (where p.decision = 'sent' and p.age_us < 60000000) as sent_last_minute,
  percentile_disc(0.5) within group (order by p.latency_us) filter (where p.age_us < 60000000)
    as median_last_minute_us,
  percentile_disc(0.99) within group (order by p.latency_us) filter (where p.age_us < 60000000)
    as percentile99_last_minute_us
from placed p
group by grouping sets ((), (p.slice), (p.decision, p.reason));

-- name: running_instances
-- Returns processes of the service that have started and not stopped, the last seen first, 50 at most, and how many shards are theirs.

select
  i.id, i.host, i.pid as process_id, i.version, tacet.unix_us(i.started_at) as started_at,
  tacet.unix_us(clock_timestamp()) - tacet.unix_us(i.seen_at) as age,
  (select count(*) from tacet.shards s where s.owner = i.id and i.lease_until > clock_timestamp()) as shards
from tacet.instances i
where i.stopped_at is null
order by i.seen_at desc
limit 50;

-- name: overview_parked
-- Returns what was parked last, 20 rows at most.

select tacet.unix_us(p.parked_at) as parked_at, p.subject_id, p.kind, p.user_id, p.reason
from tacet.parked p
order by p.parked_at desc
limit 20;

-- name: queue_figures(rows_max bigint, lanes_max bigint)
-- Counts what waits in the queue tables, up to a bound.
--
-- next_hold, next_retry: until the first hold or retry is due; negative when it is overdue.
--
-- rows_max: rows of each table and lane at most; a count that reaches it means at least as many. lanes_max: lanes with a line at
-- most, those with the most rows; the others are counted together.
--
-- Ages are in microseconds, and null where nothing waits. snapshot_age: for how long the oldest snapshot has been kept that keeps
-- dead rows from being cleaned up. slot_age_transactions: how many transactions ago that of the oldest replication slot was taken.
-- Both as far as the role may see them.
--
-- Each part reads an index in its order and stops, so the costs do not grow with the tables. The ledger is not read.
-- The names of the lanes are found by one look-up each. What sessions run is not asked, because it may quote rows.

with recursive fresh as materialized (
  -- What is to be pushed later does not wait.
  select i.enqueued_at
  from tacet.inbox i
  where not i.is_claimed and (i.available_at <= now() or i.attempts > 0)
  order by i.available_at
  limit :rows_max
), claimed as materialized (
  select i.enqueued_at from tacet.inbox i where i.is_claimed order by i.available_at limit :rows_max
), lane_names as (
  -- include: lane_names
), lanes as (
  select
    case when row_number() over (order by w.waiting desc, n.lane) > :lanes_max then 'other' else n.lane end as lane,
    w.waiting
  from (select x.lane from lane_names x where x.lane is not null limit 2 * :lanes_max) n
  cross join lateral (
    select count(*) as waiting
    from (select from tacet.deliveries d where d.state = 'waiting' and d.lane = n.lane limit :rows_max) d
  ) w
), due as materialized (
  select d.state, tacet.unix_us(d.due_at) - tacet.unix_us(clock_timestamp()) as wait
  from tacet.deliveries d
  where d.state <> 'waiting'
  order by d.due_at
  limit :rows_max
)
select
  (select count(*) from fresh) as fresh_events, (select count(*) from claimed) as claimed_events,
  (
    select greatest(0, tacet.unix_us(clock_timestamp()) - tacet.unix_us(min(x.enqueued_at)))
    from (select f.enqueued_at from fresh f union all select c.enqueued_at from claimed c) x
    having count(*) > 0
  ) as oldest_event_age,
  (select count(*) from due d where d.state = 'held') as held,
  (select min(d.wait) from due d where d.state = 'held') as next_hold,
  (select count(*) from due d where d.state = 'retryable') as retryable,
  (select min(d.wait) from due d where d.state = 'retryable') as next_retry,
  (
    select coalesce(jsonb_object_agg(l.lane, l.waiting), '{}')::text
    from (select l.lane, sum(l.waiting) as waiting from lanes l group by l.lane) l
  ) as waiting,
  (select count(*) from (select from tacet.parked p order by p.parked_at limit :rows_max) p) as parked,
  (
    select count(*)
    from (
      select from tacet.trigger_failures f
      where f.failed_at > clock_timestamp() - interval '1 hour'
      order by f.failed_at desc
      limit :rows_max
    ) f
  ) as trigger_failures,
  (
    select count(*)
    from (select from tacet.activities a where a.ended_at is null order by a.started_at limit :rows_max) a
  ) as running_activities,
  (
    select greatest(0, max(s.age_us))
    from (
      -- include: held_snapshots
    ) s
    having count(s.age_us) > 0
  ) as snapshot_age,
  (
    select max(s.transactions)
    from (
      -- include: held_slots
    ) s
  ) as slot_age_transactions;

-- name: examine_snapshots
-- Returns what has kept dead rows from being cleaned up for longest: a session or prepared transaction, and a
-- replication slot. What sessions run is not asked, because it may quote rows. Sessions of other roles are seen with
-- `pg_read_all_stats`.

(
  select s.pid as process_id, s.name, s.age_us as age, s.transactions
  from (
    -- include: held_snapshots
  ) s
  order by s.transactions desc
  limit 1
)
union all
(
  select null, s.name, null, s.transactions
  from (
    -- include: held_slots
  ) s
  order by s.transactions desc
  limit 1
);

-- part: held_snapshots
  select
    a.pid::bigint as pid, a.application_name as name, age(a.backend_xmin)::bigint as transactions,
    (extract(epoch from clock_timestamp() - coalesce(a.xact_start, a.backend_start)) * 1000000)::bigint as age_us
  from pg_stat_activity a
  where a.backend_xmin is not null and a.pid <> pg_backend_pid()
    and a.backend_type not in ('autovacuum worker', 'autovacuum launcher', 'logical replication launcher')
    and coalesce(a.datname = current_database(), true)
  union all
  select
    null, 'prepared transaction', age(p.transaction)::bigint,
    (extract(epoch from clock_timestamp() - p.prepared) * 1000000)::bigint
  from pg_prepared_xacts p
  where p.database = current_database()

-- part: held_slots
  select r.slot_name::text as name, age(r.xmin)::bigint as transactions
  from pg_replication_slots r
  where r.xmin is not null

-- part: lane_names
  (select d.lane from tacet.deliveries d where d.state = 'waiting' order by d.lane limit 1)
  union all
  select (
    select d.lane from tacet.deliveries d where d.state = 'waiting' and d.lane > n.lane order by d.lane limit 1
  )
  from lane_names n
  where n.lane is not null

-- Counts what waits in the queue tables, up to a bound.
--
--   :rows_max   bigint  rows of each table and lane at most; a count that reaches it means at least as many
--   :lanes_max  bigint  lanes with a line at most, those with the most rows; the others are counted together
--
-- Returns rows of a figure's name, a label or null, and a number. Ages are in microseconds, and missing where nothing
-- waits. `snapshot_age` is for how long the oldest snapshot has been kept that keeps dead rows from being cleaned up;
-- `slot_age` is how many transactions ago that of the oldest replication slot was taken; both as far as the role may
-- see them.
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
), oldest as (
  select min(x.enqueued_at) as moment
  from (select f.enqueued_at from fresh f union all select c.enqueued_at from claimed c) x
), lane_names as (
  (select d.lane from tacet.deliveries d where d.state = 'waiting' order by d.lane limit 1)
  union all
  select (
    select d.lane from tacet.deliveries d where d.state = 'waiting' and d.lane > n.lane order by d.lane limit 1
  )
  from lane_names n
  where n.lane is not null
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
  select d.state from tacet.deliveries d where d.state <> 'waiting' order by d.due_at limit :rows_max
)
select 'inbox' as figure, 'fresh' as label, (select count(*) from fresh) as number
union all
select 'inbox', 'claimed', (select count(*) from claimed)
union all
select 'oldest_age', null, tacet.unix_us(clock_timestamp()) - tacet.unix_us(o.moment)
from oldest o
where o.moment is not null
union all
select 'deliveries', s.state, (select count(*) from due d where d.state = s.state)
from (values ('held'), ('retryable')) s (state)
union all
select 'waiting', l.lane, sum(l.waiting)::bigint from lanes l group by l.lane
union all
select 'parked', null, (select count(*) from (select from tacet.parked p order by p.parked_at limit :rows_max) p)
union all
select 'trigger_failures', null,
  (select count(*) from (
    select from tacet.trigger_failures f
    where f.failed_at > clock_timestamp() - interval '1 hour'
    order by f.failed_at desc
    limit :rows_max
  ) f)
union all
select 'live_activities', null,
  (select count(*) from (
    select from tacet.activities a where a.ended_at is null order by a.started_at limit :rows_max
  ) a)
union all
select 'snapshot_age', null, max(s.age_us)
from (
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
) s
having max(s.age_us) is not null
union all
select 'slot_age', null, max(s.transactions)
from (
  select r.slot_name::text as name, age(r.xmin)::bigint as transactions
  from pg_replication_slots r
  where r.xmin is not null
) s
having max(s.transactions) is not null;

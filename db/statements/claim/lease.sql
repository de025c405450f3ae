-- Leases what waits and returns only its name: for when one piece of work makes every claim fail.
--
--   :events_max           bigint    new events at most
--   :deliveries_max       bigint    rescued events at most, and due deliveries at most
--   :lease_us             bigint    the lease
--   :rescues_max          bigint    rescues after which work is parked
--   :lanes                text[]    the lanes that take pushes now
--   :lane_deliveries_max  bigint[]  waiting deliveries at most, of each of these lanes
--   :life_us              bigint    how old a message may be when it is enqueued; discard_too_old takes the older ones
--   :message_age_us       bigint    how old a new message must be; claim_messages takes the younger ones
--
-- Picks like claim.sql: keep both the same.

with newest as materialized (
  -- Conversations take turns, so that a busy one does not delay the others. The turns are dealt among the newest rows,
  -- sixteen times as many as are taken.
  select
    i.place, i.available_at,
    row_number() over (
      partition by i.conversation_id, case when i.conversation_id is null then i.subject_id end
      order by i.available_at desc
    ) as turn
  from (
    select n.ctid as place, n.subject_id, n.available_at, n.conversation_id
    from tacet.inbox n
    where not n.is_claimed and n.available_at <= now()
      and n.available_at >= n.enqueued_at - :life_us * interval '1 microsecond'
      and (n.kind <> 'message' or n.attempts > 0 or n.available_at <= now() - :message_age_us * interval '1 microsecond')
    order by n.available_at desc
    limit 16 * :events_max
  ) i
), fresh as materialized (
  select i.place
  from (select n.place from newest n order by n.turn, n.available_at desc) n
  cross join lateral (
    select x.ctid as place
    from tacet.inbox x
    where x.ctid = n.place and not x.is_claimed
    limit 1
    for update skip locked
  ) i
  limit :events_max
), rescued as materialized (
  select i.ctid as place
  from tacet.inbox i
  where i.is_claimed and i.rescues < 2 and i.available_at <= now()
  order by i.available_at desc
  limit :deliveries_max
  for update skip locked
), suspect as materialized (
  select i.ctid as place
  from tacet.inbox i
  where i.is_claimed and i.rescues >= 2 and i.rescues < :rescues_max and i.available_at <= now()
  order by i.available_at
  limit least(:deliveries_max, 1)
  for update skip locked
), events as (
  update tacet.inbox i
  set
    available_at = now()
      + (:lease_us << least(greatest(i.rescues + i.is_claimed::int - 1, 0), 5)) * interval '1 microsecond',
    attempts = i.attempts + 1,
    rescues = i.rescues + i.is_claimed::int,
    is_claimed = true
  where i.ctid = any (array(
    select f.place from fresh f
    union all select r.place from rescued r
    union all select u.place from suspect u))
  returning i.subject_id, i.kind, i.attempts, i.enqueued_at, i.told_until, clock_timestamp() as moment
), due as materialized (
  select d.ctid as place
  from tacet.deliveries d
  where d.state <> 'waiting' and d.due_at <= now() and d.rescues < 2
  order by d.due_at
  limit :deliveries_max
  for update skip locked
), waiting as materialized (
  select w.place
  from unnest(:lanes, :lane_deliveries_max) as l (lane, places)
  cross join lateral (
    select d.ctid as place
    from tacet.deliveries d
    where d.state = 'waiting' and d.lane = l.lane and d.due_at <= now() and d.rescues < 2
    order by d.enqueued_at desc
    limit l.places
    for update skip locked
  ) w
), suspect_delivery as materialized (
  select d.ctid as place
  from tacet.deliveries d
  where d.rescues > 1 and d.rescues < :rescues_max and d.due_at <= now()
  order by d.due_at
  limit least(:deliveries_max, 1)
  for update skip locked
), deliveries as (
  update tacet.deliveries d
  set
    due_at = now()
      + (:lease_us << least(greatest(d.rescues + d.is_claimed::int - 1, 0), 5)) * interval '1 microsecond',
    attempts = d.attempts + 1,
    rescues = d.rescues + d.is_claimed::int,
    is_claimed = true
  where d.ctid = any (array(
    select u.place from due u
    union all select w.place from waiting w
    union all select x.place from suspect_delivery x))
  returning
    d.subject_id, d.user_id, d.kind, d.attempts, d.enqueued_at, d.accepted_devices,
    d.held_us + case when d.state = 'held' then (extract(epoch from now() - d.since) * 1000000)::bigint else 0 end
      as held_us,
    d.retries, d.device_waits, d.state = 'waiting' as is_waiting, d.released_by, d.released_at, clock_timestamp() as moment
), work as (
  select
    e.subject_id, e.kind, null as user_id, e.attempts, e.enqueued_at, '{}'::text[] as accepted_devices,
    0::bigint as held_us, 0 as retries, null::text as device_waits, false as is_waiting, null::text as released_by,
    null::timestamptz as released_at, e.moment, e.told_until
  from events e
  union all
  select
    d.subject_id, d.kind, d.user_id, d.attempts, d.enqueued_at, d.accepted_devices, d.held_us, d.retries,
    d.device_waits, d.is_waiting, d.released_by, d.released_at, d.moment, null
  from deliveries d
)
select w.subject_id, w.kind, w.user_id from work w;

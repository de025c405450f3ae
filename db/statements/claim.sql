-- What is claimed of events and deliveries, with all that a decision needs. Nearly all work is new messages, which have a statement
-- of their own.

-- name: waiting_work(look_back_us bigint, lanes text[], shards integer[], held_ids tacet.subject_id[])
-- Says what waits to be claimed, without a claim. A claim that finds nothing costs several times as much, because the
-- executor sets up its whole plan first.
--
-- Returns whether claim_messages would find something, whether rows of watched tables wait to be followed, and whether claim
-- would find something else or will then. Of new events only the newest 64 are examined: the others are seen when these are
-- claimed.

select
  exists (
    select
    from tacet.inbox i
    where (i.kind = 'message') is true and i.attempts = 0 and not i.is_claimed
      and i.available_at <= now() and i.available_at >= now() - :look_back_us * interval '1 microsecond'
      and not tacet.is_among(i.subject_id, :held_ids)
      and tacet.shard_of(i.kind, i.subject_id, i.conversation_id) = any (:shards)
  ) as has_messages,
  exists (select from tacet.changed_rows) as has_changed_rows,
  exists (
    select
    from (
      select i.kind, i.attempts, i.available_at
      from tacet.inbox i
      where not i.is_claimed and i.available_at <= now()
        and (i.kind <> 'message' or not tacet.is_among(i.subject_id, :held_ids))
        and tacet.shard_of(i.kind, i.subject_id, i.conversation_id) = any (:shards)
      order by i.available_at desc
      limit 64
    ) n
    where n.kind <> 'message' or n.attempts > 0 or n.available_at < now() - :look_back_us * interval '1 microsecond'
  )
  or exists (
    select from tacet.inbox i
    where i.is_claimed and i.available_at <= now() and tacet.shard_of(i.kind, i.subject_id, i.conversation_id) = any (:shards))
  or exists (
    select from tacet.deliveries d
    where d.state <> 'waiting' and d.due_at <= now() and tacet.shard_of(d.kind, d.subject_id, d.conversation_id) = any (:shards))
  or exists (
    select from tacet.deliveries d
    where d.state = 'waiting' and d.lane = any (:lanes) and tacet.shard_of(d.kind, d.subject_id, d.conversation_id) = any (:shards))
  or exists (select from tacet.changed_rows) as has_others;

-- name: has_messages(look_back_us bigint, owned_since_us bigint, shards integer[], held_ids tacet.subject_id[])
-- Says whether claim_messages would find something, for a fifth of what it costs to find nothing.

select exists (
  select
-- include: new_messages
) as has_messages;

-- name: claim_messages(
--   messages_max bigint, recipients_max bigint, look_back_us bigint, owned_since_us bigint, shards integer[],
--   held_ids tacet.subject_id[])
-- Returns new messages of the shards that the caller owns, with what claim returns, without the columns that are the same for all
-- new messages. Nothing is written: no other process takes what belongs to the owner of its shard.
--
-- look_back_us: claim takes what became available earlier. owned_since_us: since when the caller owns all of its shards; claim takes what
-- is older. held_ids: messages that it has in hand, from their claim until after their record; in the order of tacet.is_among.
--
-- Before a statement runs, the executor sets up every node of its plan, used or not. For a single message that takes
-- several times as long as the rest of the claim. So this statement has only what messages need.
--
-- - Only the newest messages, whatever their conversations: while it returns fewer than it may, every conversation has
--   its turn.
-- - A host's transaction that stays open keeps the index entries of every message that was recorded since. Without an
--   end to the range, each claim would walk through all of them.
-- - `is true` keeps the planner from reading the primary key by its second column, and the session's settings keep it
--   from a bitmap, which reads all dead rows before the first live one: both look cheap while the table is believed
--   empty.
-- - Who is in the ledger already is not asked: what the caller has not had in hand is in no ledger, unless a host inserts a
--   message again. Then the record leaves what was sent as it is.

with work as materialized (
  select
    i.subject_id, i.kind, 1 as attempts, i.enqueued_at, i.told_until,
    tacet.shard_of(i.kind, i.subject_id, i.conversation_id) as shard, clock_timestamp() as moment
-- include: new_messages
  order by i.available_at desc
  limit :messages_max
)
select
  w.subject_id,
  w.kind,
  w.attempts,
  w.enqueued_at,
  w.moment as claimed_at,
  m.surface_id,
  'message' as push_kind,
  case when s.place > 1 then null else m.sender_name end as sender_name,
  case when s.place > 1 then null else m.body end as body,
  s.user_id,
-- include: seen
  case when s.places < :recipients_max and t.addresses is not null then coalesce(
-- include: badge_and_targets
  m.surface_id is null as is_deleted,
-- include: wishes
  left(f.quiet_hours_policy, 16) as quiet_hours_policy,
  s.place,
  w.shard,
  clock_timestamp() as answered_at
from work w
left join lateral (select e.* from tacet.message_facts(w.subject_id) e limit 1) m on true
left join lateral (
  select v.user_id, v.last_seen, v.left_at, row_number() over () as place, count(*) over () as places
  from (
    select p.user_id, p.last_seen, p.left_at
    from tacet.seen_by(m.surface_id) p
    where p.user_id is distinct from m.sender_id
      and not tacet.has_blocked(p.user_id, m.sender_id)
      and p.user_id >= coalesce(w.told_until, tacet.lowest_user_id()) and p.user_id is distinct from w.told_until
    order by p.user_id
    limit :recipients_max
  ) v
) s on true
-- include: targets
    limit 50
  ) n
) t on s.user_id is not null
left join lateral tacet.recipient_preferences(s.user_id, w.kind, m.surface_id, w.moment) f
  on s.user_id is not null;

-- name: claim(
--   events_max bigint, deliveries_max bigint, lease_us bigint, recipients_max bigint, rescues_max bigint, lanes text[],
--   lane_deliveries_max bigint[], life_us bigint, shards integer[], held_ids tacet.subject_id[])
-- Leases what waits in the caller's shards and returns, in the same round trip, everything that the rules and the composer need.
--
-- deliveries_max: rescued events at most, and due deliveries at most. rescues_max: rescues after which work is parked. lanes: the lanes
-- that take pushes now. lane_deliveries_max: waiting deliveries at most, of each of these lanes. life_us: how old a message may be when
-- it is enqueued; discard_too_old takes the older ones.
--
-- What is picked:
--
-- - New events first, the newest of them first: after an outage the message of this second goes out before one of an
--   hour ago.
-- - Then what a lost claim left behind, what has become due, and what waited for its lane, again the newest first.
-- - What was claimed three times without a record may be what kills its claimants. Of each table one such row is picked
--   at a time, so that other work seldom shares its fate. From then on the lease doubles with every claim, up to 32
--   times.
--
-- How it keeps its plan:
--
-- - The common table expressions that lock are materialized, so that the planner cannot run a `limit` more than once.
--   Rows that another session is claiming are skipped. A row that changed since it was seen has moved, and is not
--   found.
-- - The queue tables are nearly empty whenever their statistics are taken, and full when it matters. So no join is left
--   to the planner, which would take every row for the only one. Rows are addressed by their place (`ctid`), which
--   stays while they are locked, in nested look-ups and arrays that have one plan (with PushDatabase.serviceSettings).
--
-- What is returned: a row for each recipient, or one for an event that has none.
--
-- - A recipient who is in the ledger already is left out of an event. So a large event is taken in several claims, in
--   the order of the recipients' ids: a part begins where the last one ended, and costs only itself. A full part has no
--   badges: unread_counts counts them together, because counting for each member of a large conversation would delay
--   everything else.
-- - The rows of one event follow each other, in the order of the recipients' ids, because everything is looked up for
--   one row after another. The caller puts the events in order.
-- - The texts of an event are in its first row only: 250 recipients need them once.
-- - Times are returned as they are, and the caller computes ages: each expression is set up with the plan, used or not.
-- - All times are by the database's clock. It is read after the snapshot was taken, because what was committed before
--   the snapshot must not lie in the future. `answered_at` is the clock once more, when the row is returned: the last
--   one tells what the look itself has taken.

-- include: picked
-- include: looked_at

-- name: lease(
--   events_max bigint, deliveries_max bigint, lease_us bigint, rescues_max bigint, lanes text[], lane_deliveries_max bigint[],
--   life_us bigint, shards integer[], held_ids tacet.subject_id[])
-- Leases what waits and returns only its name: for when one piece of work makes every claim fail.

-- include: picked
)
select w.subject_id, w.kind, w.user_id from work w;

-- name: look_at_work(subject_id tacet.subject_id, kind text, user_id tacet.user_id, recipients_max bigint)
-- Returns what claim returns, of one leased event or delivery.
--
-- user_id: null for an event.

with work as (
  select
    -- include: of_event
  from tacet.inbox i
  where :user_id is null and i.subject_id = :subject_id and i.kind = :kind
  union all
  select
    -- include: of_delivery
  from tacet.deliveries d
  where d.subject_id = :subject_id and d.kind = :kind and d.user_id = :user_id
-- include: looked_at

-- part: new_messages
  from tacet.inbox i
  where (i.kind = 'message') is true and i.attempts = 0 and not i.is_claimed
    and i.available_at <= now() and i.available_at >= now() - :look_back_us * interval '1 microsecond'
    and i.available_at > timestamptz 'epoch' + :owned_since_us * interval '1 microsecond'
    and not tacet.is_among(i.subject_id, :held_ids)
    and tacet.shard_of(i.kind, i.subject_id, i.conversation_id) = any (:shards)

-- part: picked
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
    select i.ctid as place, i.subject_id, i.available_at, i.conversation_id
    from tacet.inbox i
    where not i.is_claimed and i.available_at <= now()
      and i.available_at >= i.enqueued_at - :life_us * interval '1 microsecond'
      and (i.kind <> 'message' or not tacet.is_among(i.subject_id, :held_ids))
      and tacet.shard_of(i.kind, i.subject_id, i.conversation_id) = any (:shards)
    order by i.available_at desc
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
    and tacet.shard_of(i.kind, i.subject_id, i.conversation_id) = any (:shards)
  order by i.available_at desc
  limit :deliveries_max
  for update skip locked
), suspect as materialized (
  select i.ctid as place
  from tacet.inbox i
  where i.is_claimed and i.rescues >= 2 and i.rescues < :rescues_max and i.available_at <= now()
    and tacet.shard_of(i.kind, i.subject_id, i.conversation_id) = any (:shards)
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
  returning
    -- include: of_event
), due as materialized (
  select d.ctid as place
  from tacet.deliveries d
  where d.state <> 'waiting' and d.due_at <= now() and d.rescues < 2
    and tacet.shard_of(d.kind, d.subject_id, d.conversation_id) = any (:shards)
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
      and tacet.shard_of(d.kind, d.subject_id, d.conversation_id) = any (:shards)
    order by d.enqueued_at desc
    limit l.places
    for update skip locked
  ) w
), suspect_delivery as materialized (
  select d.ctid as place
  from tacet.deliveries d
  where d.rescues > 1 and d.rescues < :rescues_max and d.due_at <= now()
    and tacet.shard_of(d.kind, d.subject_id, d.conversation_id) = any (:shards)
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
    -- include: of_delivery
), work as (
  select * from events
  union all
  select * from deliveries

-- part: of_event
    i.subject_id, i.kind, (null::tacet.push_recipient).user_id, i.attempts, i.enqueued_at, '{}'::text[] as accepted_devices,
    0::bigint as held_us, 0 as retries, null::text as device_waits, false as is_waiting, null::text as released_by,
    null::timestamptz as released_at, tacet.shard_of(i.kind, i.subject_id, i.conversation_id) as shard,
    clock_timestamp() as moment, i.told_until

-- part: of_delivery
    d.subject_id, d.kind, d.user_id, d.attempts, d.enqueued_at, d.accepted_devices,
    d.held_us + case when d.state = 'held' then (extract(epoch from now() - d.since) * 1000000)::bigint else 0 end
      as held_us,
    d.retries, d.device_waits, d.state = 'waiting' as is_waiting, d.released_by, d.released_at,
    tacet.shard_of(d.kind, d.subject_id, d.conversation_id) as shard, clock_timestamp() as moment,
    (null::tacet.push_recipient).user_id as told_until

-- part: looked_at
), recorded as materialized (
  -- Who is in the ledger already. Rows are compared as a whole, which only the ledger's index by subject can answer:
  -- while the planner believes the ledger to be empty, every index seems equally good, and reading another one whole is
  -- not.
  select w.subject_id, w.kind, l.user_id
  from work w
  cross join lateral (
    select l.user_id
    from tacet.push_log l
    where (l.subject_id, l.user_id) >= (w.subject_id, coalesce(w.told_until, tacet.lowest_user_id()))
      and l.subject_id <= w.subject_id
      and l.push_type = w.kind
    offset 0
  ) l
  where w.user_id is null
)
select
  w.subject_id,
  w.kind,
  w.attempts,
  w.user_id is not null as is_delivery,
  w.enqueued_at,
  w.moment as claimed_at,
  m.surface_id,
  m.push_kind,
  case when s.place > 1 then null else m.sender_name end as sender_name,
  case when s.place > 1 then null else m.body end as body,
  coalesce(s.user_id, w.user_id) as user_id,
-- include: seen
  case when (s.places < :recipients_max or s.user_id = w.user_id) and t.addresses is not null then coalesce(
-- include: badge_and_targets
  -- As many as are asked for below; first those that the user still has.
  case when w.accepted_devices = '{}' then w.accepted_devices else array(
    select left(a.token, 512)
    from unnest(w.accepted_devices) as a (token)
    order by coalesce(a.token = any (t.addresses), false) desc
    limit 50
  ) end as accepted_devices,
  w.held_us,
  w.retries,
  w.device_waits,
  w.is_waiting,
  case when s.place > 1 then null else m.content end as content,
  m.surface_id is null and m.content is null as is_deleted,
  m.life_us,
  m.withheld,
-- include: wishes
  left(coalesce(m.quiet_policy, f.quiet_hours_policy), 16) as quiet_hours_policy,
  left(w.released_by, 32) as released_by,
  w.released_at,
  m.dated_at,
  s.place,
  w.shard,
  clock_timestamp() as answered_at
from work w
left join lateral (select e.* from tacet.event_facts(w.kind, w.subject_id) e limit 1) m on true
left join lateral (
  select r.user_id, r.last_seen, r.left_at, row_number() over () as place, count(*) over () as places
  from (
    select v.user_id, v.last_seen, v.left_at
    from (
      (
        select v.user_id, v.last_seen, v.left_at
        from tacet.seen_by(m.surface_id) v
        where w.kind = 'message' and v.user_id is distinct from m.sender_id
-- include: untold
      union all
      (
        select v.user_id, v.last_seen, v.left_at
        from tacet.event_audience(m.push_kind, w.kind, w.subject_id, m.surface_id) v
        where w.kind <> 'message' and v.user_id is distinct from m.sender_id
-- include: untold
    ) v
    order by v.user_id
    limit :recipients_max
  ) r
) s on true
-- include: targets
      and (m.reading_device is null
        or tacet.target_mark(d.channel, d.address) <> all (string_to_array(lower(m.reading_device), ' ')))
      and (w.kind <> 'schedule_changed' or d.channel <> 'web_push')
    limit 50
  ) n
) t on s.user_id is not null
left join lateral tacet.recipient_preferences(s.user_id, w.kind, m.surface_id, w.moment) f
  on s.user_id is not null and not m.is_silent;

-- part: seen
  s.user_id is not null as is_participant,
  s.user_id = any (m.read_by) as has_read,
  s.last_seen,
  s.left_at,
  m.created_at,
  case when s.user_id = any (m.prior_read_by) then m.prior_touched_at end as prior_read_at,

-- part: badge_and_targets
    case when tacet.counts_by_default_when_planned() then (select n.unread from tacet.count_unread(s.user_id) n) end,
    tacet.unread_count(s.user_id))
  end as badge,
  t.channels,
  t.addresses,
  t.environments,
  t.apps,
  t.keys,

-- part: wishes
  f.is_opted_out,
  f.is_muted,
  f.mentions_only,
  -- A mention sounds within a burst. The default function looks for an @, and asking it costs as much as a small claim.
  case when f.mentions_only or strpos(m.body, '@') > 0 or not tacet.mentions_by_default_when_planned()
    then tacet.is_mentioned(tacet.message_of(w.subject_id), s.user_id)
  end as is_mentioned,
  -- Two days at most, after which they are asked for again: a host's interval may exceed the number's range.
  case when f.quiet_hours_remaining > interval '0'
    then (extract(epoch from least(f.quiet_hours_remaining, interval '2 days')) * 1000000)::bigint
  end as quiet_hours_remaining,

-- part: targets
-- 50 targets of a user at most (ClaimLimits.devicesMax); an address has 1024 bytes at most, and its keys too.
left join lateral (
  select
    array_agg(left(n.channel, 32)) as channels,
    array_agg(n.address) as addresses,
    array_agg(left(coalesce(n.environment, ''), 32)) as environments,
    array_agg(left(coalesce(n.app, ''), 256)) as apps,
    array_agg(left(coalesce(n.keys, ''), 1024)) as keys
  from (
    select d.channel, d.address, d.environment, d.app, d.keys
    from tacet.push_targets(s.user_id) d
    where octet_length(d.address) <= 1024

-- part: untold
          and not tacet.has_blocked(v.user_id, m.sender_id)
          and v.user_id >= coalesce(w.user_id, w.told_until, tacet.lowest_user_id())
          and v.user_id <= coalesce(w.user_id, tacet.highest_user_id(), v.user_id)
          and (w.user_id is not null or (
            (w.subject_id, w.kind, v.user_id) in (select r.subject_id, r.kind, r.user_id from recorded r)
          ) is not true)
        order by v.user_id
        limit :recipients_max
      )

-- Returns what claim returns, of one leased delivery.
--
--   :subject_id  tacet.subject_id  the subject
--   :kind        text              its kind
--   :user_id     tacet.user_id     the recipient
--
-- Looks like claim.sql: keep both the same.

with work as (
  select
    d.subject_id, d.kind, d.user_id, d.attempts, d.enqueued_at, d.accepted_devices,
    d.held_us + case when d.state = 'held' then (extract(epoch from now() - d.since) * 1000000)::bigint else 0 end
      as held_us,
    d.retries, d.device_waits, d.state = 'waiting' as is_waiting, d.released_by, d.released_at, clock_timestamp() as moment,
    (null::tacet.push_recipient).user_id as told_until
  from tacet.deliveries d
  where d.subject_id = :subject_id and d.kind = :kind and d.user_id = :user_id
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
  s.user_id is not null as is_participant,
  s.user_id = any (m.read_by) as has_read,
  s.last_seen,
  s.left_at,
  m.created_at,
  case when s.user_id = any (m.prior_read_by) then m.prior_touched_at end as prior_read_at,
  case when (s.places < 1 or s.user_id = w.user_id) and t.addresses is not null then coalesce(
    case when tacet.counts_by_default_when_planned() then (select n.unread from tacet.count_unread(s.user_id) n) end,
    tacet.unread_count(s.user_id))
  end as badge,
  t.channels,
  t.addresses,
  t.environments,
  t.apps,
  t.keys,
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
  f.is_opted_out,
  f.is_muted,
  f.mentions_only,
  case when f.mentions_only then tacet.is_mentioned(tacet.message_of(w.subject_id), s.user_id) end as is_mentioned,
  -- Two days at most, after which they are asked for again: a host's interval may exceed the number's range.
  case when f.quiet_hours_remaining > interval '0'
    then (extract(epoch from least(f.quiet_hours_remaining, interval '2 days')) * 1000000)::bigint
  end as quiet_hours_remaining,
  left(coalesce(m.quiet_policy, f.quiet_hours_policy), 16) as quiet_hours_policy,
  left(w.released_by, 32) as released_by,
  w.released_at,
  m.dated_at,
  s.place,
  clock_timestamp() as answered_at
from work w
-- What is known of the event. Texts and lists are cut here, also those of functions that a host has replaced, before
-- they are multiplied by recipients. `limit 1` keeps the planner from computing them for each recipient. A character
-- has four bytes at most, and no preview shows as much as is left. Of the readers the last 10000 are kept, because
-- readers are appended. Content that is too long is dropped, because half of a JSON object is no object. Messages have
-- a branch with typed columns, into which the host's functions are planned. The executor asks for the kind first, and
-- once. The content of all other kinds is one JSON document, which tacet.event_content gets from its kind's function.
left join lateral (
  select
    e.surface_id, e.sender_id, left(e.sender_name, 1024) as sender_name, left(e.body, 4096) as body,
    e.created_at,
    case when cardinality(e.read_by) > 10000
      then e.read_by[cardinality(e.read_by) - 9999:] else e.read_by
    end as read_by,
    case when cardinality(e.prior_read_by) > 10000
      then e.prior_read_by[cardinality(e.prior_read_by) - 9999:] else e.prior_read_by
    end as prior_read_by,
    e.prior_touched_at, e.push_kind, e.dated_at, e.life_us, left(e.withheld, 16) as withheld,
    case when octet_length(e.content) <= 65536 then e.content end as content, e.is_silent,
    left(e.reading_device, 16384) as reading_device, left(e.quiet_policy, 16) as quiet_policy
  from (
    select
      c.conversation_id as surface_id, c.sender_id, c.sender_name, c.body, c.created_at, c.read_by,
      c.prior_read_by, c.prior_touched_at, 'message' as push_kind, null::timestamptz as dated_at,
      null::bigint as life_us, null::text as withheld, null::text as content, false as is_silent,
      null::text as reading_device, null::text as quiet_policy
    from tacet.message_context(tacet.message_of(w.subject_id)) c
    where w.kind = 'message'
    union all
    select
      c.surface_id, c.actor_id, null, null, c.dated_at, null, null, null, c.push_kind, c.dated_at, c.life_us,
      c.withheld, c.content, c.is_silent, c.excluded_device, c.quiet_policy
    from tacet.event_content(w.kind, w.subject_id) c
    where w.kind <> 'message'
  ) e
  limit 1
) m on true
left join lateral (
  select r.user_id, r.last_seen, r.left_at, row_number() over () as place, count(*) over () as places
  from (
    select v.user_id, v.last_seen, v.left_at
    from (
      (
        select v.user_id, v.last_seen, v.left_at
        from tacet.seen_by(m.surface_id) v
        where w.kind = 'message' and v.user_id is distinct from m.sender_id
          and not tacet.has_blocked(v.user_id, m.sender_id)
          and v.user_id >= coalesce(w.user_id, w.told_until, tacet.lowest_user_id())
          and v.user_id <= coalesce(w.user_id, tacet.highest_user_id(), v.user_id)
          and (w.user_id is not null or (
            (w.subject_id, w.kind, v.user_id) in (select r.subject_id, r.kind, r.user_id from recorded r)
          ) is not true)
        order by v.user_id
        limit 1
      )
      union all
      (
        select v.user_id, v.last_seen, v.left_at
        from tacet.event_audience(m.push_kind, w.kind, w.subject_id, m.surface_id) v
        where w.kind <> 'message' and v.user_id is distinct from m.sender_id
          and not tacet.has_blocked(v.user_id, m.sender_id)
          and v.user_id >= coalesce(w.user_id, w.told_until, tacet.lowest_user_id())
          and v.user_id <= coalesce(w.user_id, tacet.highest_user_id(), v.user_id)
          and (w.user_id is not null or (
            (w.subject_id, w.kind, v.user_id) in (select r.subject_id, r.kind, r.user_id from recorded r)
          ) is not true)
        order by v.user_id
        limit 1
      )
    ) v
    order by v.user_id
    limit 1
  ) r
) s on true
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
      and (m.reading_device is null
        or tacet.target_mark(d.channel, d.address) <> all (string_to_array(lower(m.reading_device), ' ')))
      and (w.kind <> 'schedule_changed' or d.channel <> 'web_push')
    limit 50
  ) n
) t on s.user_id is not null
left join lateral tacet.recipient_preferences(s.user_id, w.kind, m.surface_id, w.moment) f
  on s.user_id is not null and not m.is_silent;

-- Leases new messages, and returns what claim returns. Nearly all work is new messages.
--
--   :messages_max    bigint  messages at most
--   :lease_us        bigint  the lease
--   :recipients_max  bigint  recipients of one message at most
--   :look_back_us    bigint  how far back it looks; claim takes what became available earlier
--
-- Before a statement runs, the executor sets up every node of its plan, used or not. For a single message that takes
-- several times as long as the rest of the claim. So this statement has only what messages need. A list beside each
-- message says who is in the ledger already. It is empty unless the message came back, and sorted: each recipient is
-- found by bisection, because a linear search takes seconds for a large conversation.
--
-- - Only the newest messages, whatever their conversations: while it returns fewer than it may, every conversation has
--   its turn.
-- - A host's transaction that stays open keeps the index entries of every message that was claimed since. Without an
--   end to the range, each claim would walk through all of them.
-- - `is true` keeps the planner from reading the primary key by its second column, and the session's settings keep it
--   from a bitmap, which reads all dead rows before the first live one: both look cheap while the table is believed
--   empty.
-- - `offset 0` keeps it from reading the ledger by an index whose order is that of the list.

with fresh as materialized (
  select i.ctid as place
  from tacet.inbox i
  where (i.kind = 'message') is true and i.attempts = 0 and not i.is_claimed
    and i.available_at <= now() and i.available_at >= now() - :look_back_us * interval '1 microsecond'
  order by i.available_at desc
  limit :messages_max
  for update skip locked
), events as (
  update tacet.inbox i
  set available_at = now() + :lease_us * interval '1 microsecond', attempts = 1, is_claimed = true
  where i.ctid = any (array(select f.place from fresh f))
  returning i.subject_id, i.kind, i.attempts, i.enqueued_at, i.told_until, clock_timestamp() as moment
), work as materialized (
  select
    e.subject_id, e.kind, (null::tacet.push_recipient).user_id, e.attempts, e.enqueued_at,
    '{}'::text[] as accepted_devices,
    0::bigint as held_us, 0 as retries, false as is_waiting, null::text as released_by,
    null::timestamptz as released_at, e.moment, e.told_until,
    array(
      select r.user_id
      from (
        select l.user_id
        from tacet.push_log l
        where (l.subject_id, l.user_id) >= (e.subject_id,
          coalesce(e.told_until, tacet.lowest_user_id()))
          and l.subject_id <= e.subject_id
          and l.push_type = e.kind
        offset 0
      ) r
      order by r.user_id
    ) as recorded
  from events e
), situations as (
  select
    w.subject_id,
    w.kind,
    w.attempts,
    w.user_id is not null as is_delivery,
    (extract(epoch from w.enqueued_at) * 1000000)::bigint as enqueued_at,
    (extract(epoch from w.moment) * 1000000)::bigint as claimed_at,
    m.surface_id,
    'message' as push_kind,
    case when s.place > 1 then null else m.sender_name end as sender_name,
    case when s.place > 1 then null else m.body end as body,
    coalesce(s.user_id, w.user_id) as user_id,
    s.user_id is not null as is_participant,
    coalesce(s.user_id = any (m.read_by), false) as has_read,
    case when isfinite(s.last_seen)
      then (extract(epoch from w.moment - s.last_seen) * 1000000)::bigint
    end as last_seen_age,
    -- A date of the message that lies in the future says nothing about when it came.
    coalesce(s.last_seen > greatest(
      case when m.created_at > '-infinity' and m.created_at <= w.moment then m.created_at end, w.enqueued_at
    ) and s.last_seen <= w.moment, false) as saw_after_message,
    -- Since the last sign of presence. Having read the newest other message stands in for looks that are not reported.
    coalesce(s.left_at <= w.moment and s.left_at >= coalesce(
      case when s.last_seen > '-infinity' and s.last_seen <= w.moment then s.last_seen end,
      case when s.user_id = any (m.prior_read_by)
        then case when m.prior_touched_at > '-infinity' and m.prior_touched_at <= w.moment then m.prior_touched_at end
      end), false) as has_left,
    case when s.user_id = any (m.prior_read_by) and isfinite(m.prior_touched_at)
      then (extract(epoch from w.moment - m.prior_touched_at) * 1000000)::bigint
    end as prior_read_age,
    case when s.places < :recipients_max or s.user_id = w.user_id then tacet.unread_count(s.user_id) end as badge,
    coalesce(t.device_tokens, '{}') as device_tokens,
    coalesce(t.environments, '{}') as environments,
    coalesce(t.apps, '{}') as apps,
    w.accepted_devices as accepted_devices,
    w.held_us,
    w.retries,
    w.is_waiting,
    null::text as content,
    m.surface_id is null as is_deleted,
    null::bigint as life_us,
    null::text as withheld,
    coalesce(f.is_opted_out, false) as is_opted_out,
    coalesce(f.is_muted, false) as is_muted,
    coalesce(f.mentions_only, false) as mentions_only,
    case
      when f.mentions_only then coalesce(tacet.is_mentioned(tacet.message_of(w.subject_id), s.user_id), false) else false
    end as is_mentioned,
    -- Two days at most, after which they are asked for again: a host's interval may exceed the number's range.
    case when f.quiet_hours_remaining > interval '0'
      then (extract(epoch from least(f.quiet_hours_remaining, interval '2 days')) * 1000000)::bigint
    end as quiet_hours_remaining,
    left(f.quiet_hours_policy, 16) as quiet_hours_policy,
    left(w.released_by, 32) as released_by,
    (extract(epoch from w.released_at) * 1000000)::bigint as released_at,
    (extract(epoch from least(w.enqueued_at, case when isfinite(m.created_at) then m.created_at end)) * 1000000)::bigint
      as dated_at,
    s.place
  from work w
  -- What is known of the event. Texts and lists are cut here, also those of functions that a host has replaced, before
  -- they are multiplied by recipients. `limit 1` keeps the planner from computing them for each recipient. A character
  -- has four bytes at most, and no preview shows as much as is left. Of the readers the last 10000 are kept, because
  -- readers are appended.
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
      e.prior_touched_at
    from (
      select
        c.conversation_id as surface_id, c.sender_id, c.sender_name, c.body, c.created_at, c.read_by,
        c.prior_read_by, c.prior_touched_at
      from tacet.message_context(tacet.message_of(w.subject_id)) c
    ) e
    limit 1
  ) m on true
  left join lateral (
    select r.user_id, r.last_seen, r.left_at, row_number() over () as place, count(*) over () as places
    from (
      select v.user_id, v.last_seen, v.left_at
      from (
        select v.user_id, v.last_seen, v.left_at
        from tacet.seen_by(m.surface_id) v
        where v.user_id is distinct from m.sender_id
          and v.user_id >= coalesce(w.user_id, w.told_until, tacet.lowest_user_id())
          and v.user_id <= coalesce(w.user_id, tacet.highest_user_id(), v.user_id)
          and (w.user_id is not null or w.recorded[width_bucket(v.user_id, w.recorded)] is distinct from v.user_id)
        order by v.user_id
        limit :recipients_max
      ) v
      order by v.user_id
      limit :recipients_max
    ) r
  ) s on true
  -- 50 devices of a user at most (ClaimLimits.devicesMax); a token has 512 digits at most, a bundle identifier 255
  -- bytes.
  left join lateral (
    select
      array_agg(n.device_token) as device_tokens,
      array_agg(left(coalesce(n.environment, ''), 32)) as environments,
      array_agg(left(coalesce(n.app, ''), 256)) as apps
    from (
      select d.device_token, d.environment, d.app
      from tacet.device_tokens(s.user_id) d
      where octet_length(d.device_token) <= 512
      limit 50
    ) n
  ) t on s.user_id is not null
  left join lateral tacet.recipient_preferences(s.user_id, w.kind, m.surface_id, w.moment) f
    on s.user_id is not null
)
select *, (extract(epoch from clock_timestamp()) * 1000000)::bigint as answered_at
from situations o
order by
  o.is_delivery, o.is_waiting, case when o.is_waiting then - o.enqueued_at else o.enqueued_at end, o.subject_id,
  o.kind, o.user_id, o.place;

-- New messages, which nearly all work is.

-- name: waiting_work
-- Says what waits to be claimed, without a claim. A claim that finds nothing costs several times as much, because the
-- executor sets up its whole plan first.
--
--   :look_back_us  bigint  how far back the claim of messages looks
--   :lanes         text[]  the lanes that take pushes now
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
  ) as has_messages,
  exists (select from tacet.changed_rows) as has_changed_rows,
  exists (
    select
    from (
      select i.kind, i.attempts, i.available_at
      from tacet.inbox i
      where not i.is_claimed and i.available_at <= now()
      order by i.available_at desc
      limit 64
    ) n
    where n.kind <> 'message' or n.attempts > 0 or n.available_at < now() - :look_back_us * interval '1 microsecond'
  )
  or exists (select from tacet.inbox i where i.is_claimed and i.available_at <= now())
  or exists (select from tacet.deliveries d where d.state <> 'waiting' and d.due_at <= now())
  or exists (select from tacet.deliveries d where d.state = 'waiting' and d.lane = any (:lanes))
  or exists (select from tacet.changed_rows) as has_others;

-- name: claim_messages
-- Leases new messages, and returns what claim returns, without the columns that are the same for all new messages. Nearly
-- all work is new messages.
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

with events as (
  update tacet.inbox i
  set available_at = now() + :lease_us * interval '1 microsecond', attempts = 1, is_claimed = true
  where i.ctid = any (array(
    select n.ctid
    from tacet.inbox n
    where (n.kind = 'message') is true and n.attempts = 0 and not n.is_claimed
      and n.available_at <= now() and n.available_at >= now() - :look_back_us * interval '1 microsecond'
    order by n.available_at desc
    limit :messages_max
    for update skip locked))
  returning i.subject_id, i.kind, i.attempts, i.enqueued_at, i.told_until, clock_timestamp() as moment
), work as materialized (
  select
    e.subject_id, e.kind, e.attempts, e.enqueued_at, e.told_until, e.moment,
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
  s.user_id is not null as is_participant,
  s.user_id = any (m.read_by) as has_read,
  s.last_seen,
  s.left_at,
  m.created_at,
  case when s.user_id = any (m.prior_read_by) then m.prior_touched_at end as prior_read_at,
  case when s.places < :recipients_max and t.addresses is not null then coalesce(
    case when tacet.counts_by_default_when_planned() then (select n.unread from tacet.count_unread(s.user_id) n) end,
    tacet.unread_count(s.user_id))
  end as badge,
  t.channels,
  t.addresses,
  t.environments,
  t.apps,
  t.keys,
  m.surface_id is null as is_deleted,
  f.is_opted_out,
  f.is_muted,
  f.mentions_only,
  case when f.mentions_only then tacet.is_mentioned(tacet.message_of(w.subject_id), s.user_id) end as is_mentioned,
  -- Two days at most, after which they are asked for again: a host's interval may exceed the number's range.
  case when f.quiet_hours_remaining > interval '0'
    then (extract(epoch from least(f.quiet_hours_remaining, interval '2 days')) * 1000000)::bigint
  end as quiet_hours_remaining,
  left(f.quiet_hours_policy, 16) as quiet_hours_policy,
  s.place,
  clock_timestamp() as answered_at
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
  select v.user_id, v.last_seen, v.left_at, row_number() over () as place, count(*) over () as places
  from (
    select p.user_id, p.last_seen, p.left_at
    from tacet.seen_by(m.surface_id) p
    where p.user_id is distinct from m.sender_id
      and not tacet.has_blocked(p.user_id, m.sender_id)
      and p.user_id >= coalesce(w.told_until, tacet.lowest_user_id())
      and w.recorded[width_bucket(p.user_id, w.recorded)] is distinct from p.user_id
    order by p.user_id
    limit :recipients_max
  ) v
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
    limit 50
  ) n
) t on s.user_id is not null
left join lateral tacet.recipient_preferences(s.user_id, w.kind, m.surface_id, w.moment) f
  on s.user_id is not null;

-- name: fold_messages
-- Decides which of the messages that may be pushed sound, and which fold into the notification of their burst.
--
--   :subject_ids  tacet.subject_id[]       the messages, one element for each recipient
--   :user_ids     tacet.user_id[]          the recipients
--   :surface_ids  tacet.conversation_id[]  the conversations
--   :enqueued_us  bigint[]                 when the messages were committed, since 1970
--   :looked_us    bigint[]                 when the recipients last looked, since 1970; null for unknown
--   :attempts     integer[]                the claims' attempts
--   :window_us    bigint                   how long a burst lasts
--   :settle_us    bigint                   between two updates of a notification
--
-- Returns a row for each element, in their order.

select f.verdict, f.first_subject, f.more, f.due_us
from tacet.fold_messages(
  :subject_ids, :user_ids, :surface_ids, :enqueued_us, :looked_us, :attempts, :window_us, :settle_us) f
order by f.place;

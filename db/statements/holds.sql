-- What becomes of pushes that wait: holds, looked at again, and bursts that have changed their owner.

-- name: review_holds(subject_ids tacet.subject_id[], kinds text[], user_ids tacet.user_id[])
-- Makes holds due about which something was learnt while they were being recorded.
--
-- subject_ids: the subjects of the holds, one element for each hold.
--
-- A host's transaction that changes presence does not see a hold that is not committed yet, and the claim sees nothing
-- of that transaction before it commits. A reason to look again can fall between the two. So every new hold is compared
-- with the facts once more, a moment after its record.
--
-- That a recipient has left ends a hold for presence only. Quiet hours last all the same, and every review would
-- release the hold that they bring again. New preferences end any hold. They count for some seconds after they are new,
-- because `changed_at` lies before their commit, so the hold may be reviewed again a few times.
--
-- Returns the number of holds released, and the transactions that this look may have missed: the oldest one that was
-- running, and the next one to begin.

with released as (
  update tacet.deliveries d
  set due_at = now(), released_at = now(), released_by = 'review'
  from (
    select x.subject_id, x.user_id, x.kind
    from unnest(:subject_ids, :kinds, :user_ids) as h (subject_id, kind, user_id)
    join tacet.deliveries x on x.subject_id = h.subject_id and x.user_id = h.user_id and x.kind = h.kind
    left join lateral (select e.* from tacet.event_facts(x.kind, x.subject_id) e limit 1) m on true
    left join lateral (
      select v.* from tacet.event_recipients(m.push_kind, x.kind, x.subject_id, m.surface_id) v where v.user_id = x.user_id
    ) s on true
    where x.state = 'held' and not x.is_claimed and x.due_at > now()
      and (
        s.user_id is null
        or m.withheld is not null
        or s.user_id = any (m.read_by)
        or s.left_at <= now() and s.left_at >= coalesce(
          case when s.last_seen > '-infinity' and s.last_seen <= now() then s.last_seen end,
          case when s.user_id = any (m.prior_read_by)
            then case when m.prior_touched_at > '-infinity' and m.prior_touched_at <= now() then m.prior_touched_at end
          end) and exists (
          select from tacet.push_log l
          where l.subject_id = x.subject_id and l.user_id = x.user_id and l.push_type = x.kind
            and l.reason = 'user_viewing')
        or s.last_seen > greatest(
          case when m.created_at > '-infinity' and m.created_at <= now() then m.created_at end, x.enqueued_at
        ) and s.last_seen <= now()
        or exists (
          select from tacet.preferences p
          where p.user_id = x.user_id and p.changed_at > x.since - interval '5 seconds')
      )
    for update of x skip locked
  ) x
  where d.subject_id = x.subject_id and d.user_id = x.user_id and d.kind = x.kind
  returning 1
)
select
  (select count(*) from released) as released,
  pg_snapshot_xmin(pg_current_snapshot())::text::bigint as oldest_running,
  pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next_to_begin;

-- name: folded_messages(user_ids tacet.user_id[], since_us bigint)
-- Returns the messages that have lately been handed over for these users, and in which notification: what the owner of a conversation
-- needs to know that has taken it over.
--
-- Of a user the newest 100 rows are looked at. first_id, begun_at: of the message that began the burst.

select
  u.user_id, l.subject_id, m.conversation_id, tacet.unix_us(l.enqueued_at) as enqueued_at,
  coalesce(l.fold ->> 'burst', l.subject_id::text) as first_id,
  coalesce((l.fold ->> 'begun_us')::bigint, tacet.unix_us(l.enqueued_at)) as begun_at,
  (l.fold ->> 'sound')::boolean as sounds, coalesce((l.fold ->> 'more')::int, 0) as more, l.is_shown
from (select distinct n.user_id from unnest(:user_ids) as n (user_id)) u
cross join lateral (
  select
    l.subject_id, l.enqueued_at, l.history -> -1 -> 'fold' as fold,
    l.decision = 'sent' or (l.reason = 'shadow') is true as is_shown
  from tacet.push_log l
  where l.user_id = u.user_id and l.enqueued_at >= timestamptz 'epoch' + :since_us * interval '1 microsecond'
    and l.push_type = 'message'
  order by l.enqueued_at desc
  limit 100
) l
cross join lateral tacet.message_context(tacet.message_of(l.subject_id)) m
where l.fold is not null
order by u.user_id, l.enqueued_at, l.subject_id;

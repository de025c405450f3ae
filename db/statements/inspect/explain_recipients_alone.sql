-- Returns what explain_recipients returns, without asking the host. Only a server's pushes and read syncs then say whom
-- they concern.
--
--   :subject_id   tacet.subject_id  the subject
--   :kind         text              its kind
--   :user_id      tacet.user_id     the one recipient, who is returned even if nothing is known; null for all
--   :users_max    bigint            users at most
--   :entries_max  bigint            entries of histories after which no more users are returned

with present as materialized (
  select o.user_id, false as is_actor, (null::tacet.push_content).surface_id
  from (
    select p.user_id from tacet.pushes p where p.id = tacet.row_of(:subject_id) and p.kind = :kind
    union all
    select s.user_id from tacet.read_syncs s where s.id = tacet.row_of(:subject_id) and :kind = 'read_sync'
  ) o
  where o.user_id between coalesce(:user_id, tacet.lowest_user_id())
      and coalesce(:user_id, tacet.highest_user_id(), o.user_id)
), parked as materialized (
  select p.*
  from tacet.parked p
  where p.subject_id = :subject_id and p.kind = :kind
    and p.user_id between coalesce(:user_id, tacet.lowest_user_id())
      and coalesce(:user_id, tacet.highest_user_id(), p.user_id)
  limit 10 * :users_max
), known as materialized (
  (
    select l.user_id
    from tacet.push_log l
    where l.subject_id = :subject_id and l.push_type = :kind
    and l.user_id between coalesce(:user_id, tacet.lowest_user_id())
      and coalesce(:user_id, tacet.highest_user_id(), l.user_id)
    order by l.user_id
    limit :users_max
  )
  union
  (
    select d.user_id
    from tacet.deliveries d
    where d.subject_id = :subject_id and d.kind = :kind
    and d.user_id between coalesce(:user_id, tacet.lowest_user_id())
      and coalesce(:user_id, tacet.highest_user_id(), d.user_id)
    order by d.user_id
    limit :users_max
  )
  union
  select p.user_id from parked p
  union
  select p.user_id from present p
  union
  select :user_id where :user_id is not null
), people as materialized (
  select k.user_id from known k order by k.user_id limit :users_max
), counted as materialized (
  select
    p.user_id, count(*) over () as people_count,
    sum(case when jsonb_typeof(l.history) = 'array' then jsonb_array_length(l.history) else 0 end) over (
      order by p.user_id rows between unbounded preceding and 1 preceding) as entries_before
  from people p
  left join tacet.push_log l on l.subject_id = :subject_id and l.user_id = p.user_id and l.push_type = :kind
)
select jsonb_build_object(
  'userID', u.user_id,
  'isParticipant', v.user_id is not null,
  'isActor', coalesce(v.is_actor, false),
  'ledger', (
    select jsonb_build_object(
      'id', l.id, 'decision', l.decision, 'reason', l.reason,
      'enqueuedAt', tacet.unix_us(l.enqueued_at),
      'claimedAt', case when isfinite(l.claimed_at) then tacet.unix_us(l.claimed_at) end,
      'heldUntil', case when isfinite(l.held_until) then tacet.unix_us(l.held_until) end,
      'sentAt', case when isfinite(l.sent_at) then tacet.unix_us(l.sent_at) end,
      'wokenBy', l.woken_by, 'devicesAccepted', l.devices_accepted, 'attempts', l.attempts, 'opened', l.opened,
      'openedAt', case when isfinite(l.opened_at) then tacet.unix_us(l.opened_at) end,
      'history', l.history)
    from tacet.push_log l
    where l.subject_id = :subject_id and l.user_id = u.user_id and l.push_type = :kind),
  'delivery', (
    select jsonb_build_object(
      'state', d.state,
      'dueAt', tacet.unix_us(d.due_at),
      'isClaimed', d.is_claimed, 'attempts', d.attempts, 'rescues', d.rescues, 'lane', d.lane,
      'releasedBy', d.released_by,
      'releasedAt', case when isfinite(d.released_at) then tacet.unix_us(d.released_at) end,
      'error', d.error)
    from tacet.deliveries d
    where d.subject_id = :subject_id and d.user_id = u.user_id and d.kind = :kind),
  'parked', (
    select jsonb_build_object(
      'parkedAt', tacet.unix_us(p.parked_at),
      'attempts', p.attempts, 'reason', p.reason)
    from parked p
    where p.user_id = u.user_id
    order by p.parked_at desc
    limit 1),
  'preferences', null,
  'devices', jsonb_build_array()
)::text as document, u.people_count
from counted u
left join present v on v.user_id = u.user_id
where coalesce(u.entries_before, 0) < :entries_max
order by u.user_id;

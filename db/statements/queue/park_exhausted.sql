-- Parks events and deliveries whose leases ran out too often. Returns the number of rows parked.
--
--   :rescues_max  bigint  rescues after which work is parked
--   :rows_max     bigint  rows of each table at most
--
-- What is taken with a limit is addressed by its place (`ctid`): with a join, the planner may run the limited part once
-- for each row of a table that it believes empty. A row that changed since it was seen has moved, and is left to the
-- next look.
--
-- A recipient who gets nothing more has a failed push. A push that reached a device stays sent. The time of a current
-- hold is kept: a replay does not count it as the message's age.

with events as (
  delete from tacet.inbox i
  where i.ctid = any (array(
    select x.ctid
    from tacet.inbox x
    where x.is_claimed and x.rescues >= :rescues_max and x.available_at <= now()
    limit :rows_max
    for update skip locked
  ))
  returning i.*
), deliveries as (
  delete from tacet.deliveries d
  where d.ctid = any (array(
    select x.ctid
    from tacet.deliveries x
    where x.rescues > 1 and x.rescues >= :rescues_max and x.due_at <= now()
    limit :rows_max
    for update skip locked
  ))
  returning
    d.subject_id, d.user_id, d.kind, d.conversation_id, d.enqueued_at, d.attempts,
    d.held_us + case when d.state = 'held' then (extract(epoch from now() - d.since) * 1000000)::bigint else 0 end
      as held_us,
    d.accepted_devices, d.error
), parked as (
  insert into tacet.parked (
    subject_id, user_id, kind, conversation_id, enqueued_at, attempts, held_us, reason, accepted_devices
  )
  select
    e.subject_id, null, e.kind, e.conversation_id, e.enqueued_at, e.attempts, 0::bigint,
    coalesce(e.error, 'claimed too often without a record'), '{}'::text[]
  from events e
  union all
  select
    d.subject_id, d.user_id, d.kind, d.conversation_id, d.enqueued_at, d.attempts, d.held_us,
    coalesce(d.error, 'claimed too often without a record'), d.accepted_devices
  from deliveries d
  returning 1
), failed as (
  update tacet.push_log l
  set decision = 'failed', reason = 'parked', held_until = null
  from deliveries d
  where l.subject_id = any (array(select x.subject_id from deliveries x))
    and l.subject_id = d.subject_id and l.user_id = d.user_id and l.push_type = d.kind and l.decision = 'held'
)
select count(*) from parked;

-- Parks one event or delivery whose record the database refuses, under the claim that decided it.
--
--   :subject_id  tacet.subject_id  the subject
--   :kind        text              its kind
--   :user_id     tacet.user_id     the recipient; null for an event
--   :attempts    bigint            the claim's attempts
--   :reason      text              why
--
-- Returns the number of rows parked. See park_exhausted.sql for what happens to the ledger: keep both the same.

with events as (
  delete from tacet.inbox i
  where :user_id is null and i.subject_id = :subject_id and i.kind = :kind and i.attempts = :attempts
    and i.is_claimed
  returning i.subject_id, i.kind, i.conversation_id, i.enqueued_at, i.attempts, :reason::text as error
), deliveries as (
  delete from tacet.deliveries d
  where d.user_id = :user_id and d.subject_id = :subject_id and d.kind = :kind and d.attempts = :attempts
    and d.is_claimed
  returning
    d.subject_id, d.user_id, d.kind, d.conversation_id, d.enqueued_at, d.attempts,
    d.held_us + case when d.state = 'held' then (extract(epoch from now() - d.since) * 1000000)::bigint else 0 end
      as held_us,
    d.accepted_devices, :reason::text as error
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

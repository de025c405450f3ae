-- The queue beside claims and records: work that comes back, is too old, was missed or fails again and again.

-- name: next_due
-- Returns the microseconds until something becomes due by itself; null when nothing does. Deliveries that wait for a
-- lane do not, nor events that are available: a claim has seen them, or they are in hand.

select tacet.unix_us(least(
  (select min(i.available_at) from tacet.inbox i where not i.is_claimed and i.available_at > now()),
  (select min(i.available_at) from tacet.inbox i where i.is_claimed),
  (select min(d.due_at) from tacet.deliveries d where d.state <> 'waiting')
)) - tacet.unix_us(now()) as wait;

-- name: bring_forward
-- Makes events available that seem to come from the future because the clock was set back. Nobody has claimed them.
-- Pushes for later were enqueued before now, and read syncs are enqueued for later.

update tacet.inbox i
set available_at = now()
where not i.is_claimed and i.available_at > now() and (i.enqueued_at > now() or i.attempts > 0) and i.kind <> 'read_sync';

-- name: note_failed_look(subject_id tacet.subject_id, kind text, user_id tacet.user_id, error text, wait_us bigint)
-- Stores why leased work could not be looked at. Work that is not to blame is given back: its lease does not count as one that ran out.
--
-- user_id: null for an event. wait_us: how long work that is given back is left alone; null keeps its lease.

with noted as (
  update tacet.inbox i
  set
    error = :error, is_claimed = :wait_us is null,
    available_at = coalesce(now() + :wait_us * interval '1 microsecond', i.available_at)
  where :user_id is null and i.subject_id = :subject_id and i.kind = :kind and i.is_claimed
)
update tacet.deliveries d
set error = :error, is_claimed = :wait_us is null, due_at = coalesce(now() + :wait_us * interval '1 microsecond', d.due_at)
where d.subject_id = :subject_id and d.kind = :kind and d.user_id = :user_id and d.is_claimed;

-- name: enqueue_missed(failures_max bigint)
-- Enqueues events that a trigger could not enqueue. Returns the number of events found.
--
-- A webhook may have named a message meanwhile, and its recipients may be in the ledger. One attempt is counted, so that it is left to
-- the claim that asks the ledger.

with missed as materialized (
  select * from tacet.take_missed('^(?!erasure$|activity:)', :failures_max::int)
), enqueued as (
  insert into tacet.inbox (subject_id, kind, enqueued_at, attempts)
  select m.subject_id, m.kind, m.failed_at, 1 from missed m
  on conflict do nothing
)
select count(*) from missed;

-- name: discard_too_old(life_us bigint, rows_max bigint)
-- Deletes messages that were too old when they were enqueued: a host has loaded what is no news. They have no
-- recipients, so they leave no rows in the ledger. Returns the number of rows.
--
-- They are available since their own dates, at the old end of the index.

with discarded as (
  delete from tacet.inbox i
  where i.ctid = any (array(
    select x.ctid
    from tacet.inbox x
    where not x.is_claimed and x.available_at < now() - :life_us * interval '1 microsecond'
      and x.available_at < x.enqueued_at - :life_us * interval '1 microsecond'
    order by x.available_at
    limit :rows_max
    for update skip locked
  ))
  returning 1
)
select count(*) from discarded;

-- name: release_queued(releases_max bigint)
-- Makes holds due that a host's transaction could not release, because its snapshot was older than their last change.
--
-- Returns the number of releases; the number of holds is not larger.

with queued as (
  delete from tacet.releases r
  where r.ctid = any (array(
    select x.ctid from tacet.releases x order by x.queued_at limit :releases_max for update skip locked))
  returning r.subject_id, r.user_id, r.cause
), released as materialized (
  select tacet.release_holds(array_agg(q.subject_id), array_agg(q.user_id), array_agg(q.cause)), count(*) as releases
  from queued q
)
select r.releases from released r;

-- name: release_expired(life_us bigint, rows_max bigint)
-- Makes deliveries claimable that have waited for their lane for longer than a push is worth, so that they are recorded
-- as expired.
--
-- Returns the number of rows; 0 while another process does the same. The index by age is read from its old end, so a look that finds
-- nothing costs the same however much waits.

with turn as materialized (
  select pg_try_advisory_xact_lock(1952539493, 3) as is_ours
), expired as materialized (
  select x.ctid as place
  from tacet.deliveries x
  where (select t.is_ours from turn t) and x.state = 'waiting' and not x.is_claimed
    and x.enqueued_at - timestamptz 'epoch' + x.held_us * interval '1 microsecond'
      < now() - timestamptz 'epoch' - :life_us * interval '1 microsecond'
  order by x.enqueued_at - timestamptz 'epoch' + x.held_us * interval '1 microsecond'
  limit :rows_max
  for update skip locked
), released as (
  update tacet.deliveries d
  set state = 'retryable', lane = null, due_at = now()
  where d.ctid = any (array(select e.place from expired e))
  returning 1
)
select count(*) from released;

-- name: park_exhausted(rescues_max bigint, rows_max bigint)
-- Parks events and deliveries whose leases ran out too often. Returns the number of rows parked.
--
-- rescues_max: rescues after which work is parked. rows_max: rows of each table at most.
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
-- include: parked

-- name: park_refused(subject_id tacet.subject_id, kind text, user_id tacet.user_id, attempts bigint, reason text)
-- Parks one event or delivery whose record the database refuses, under the claim that decided it.
--
-- user_id: null for an event.
--
-- Returns the number of rows parked.

with events as (
  delete from tacet.inbox i
  where :user_id is null and i.subject_id = :subject_id and i.kind = :kind and i.attempts = :attempts
    and i.is_claimed::int = least(:attempts, 1)
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
-- include: parked

-- part: parked
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

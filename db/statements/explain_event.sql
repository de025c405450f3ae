-- Why an event went as it did.
--
-- Each statement reads what is known of an event long after it happened, as one document of JSON whose members are those of the
-- type that it is decoded as. Every look-up has an index and a limit: nothing grows with the ledger, and little with the event.
-- Device tokens leave the database as their first eight characters. Statements whose names end in `_alone` read Tacet's tables
-- only, for an event for which the host's functions fail.

-- name: meaning_of_id
-- Returns whether the ledger knows an id as a subject, and whether as a user.
--
--   :subject_id  tacet.subject_id  the id; null if no subject can have it
--   :user_id     tacet.user_id     the id; null if no user can have it

select
  exists (select from tacet.push_log l where l.subject_id = :subject_id) as is_subject,
  exists (select from tacet.push_log l where l.user_id = :user_id) as is_user;

-- name: explain_kinds
-- Returns the kinds of events that an id is the subject of, messages first.
--
--   :subject_id  tacet.subject_id  the id

select k.kind
from (
  select 'message' as kind where exists (select from tacet.message_context(tacet.message_of(:subject_id)))
  union
  select w.kind from tacet.kinds w where exists (select from tacet.watched_row_content(w.kind, :subject_id))
  union
-- include: kinds_of_tacet

-- name: explain_kinds_alone
-- Returns what explain_kinds returns, without asking the host.
--
--   :subject_id  tacet.subject_id  the id

select k.kind
from (
-- include: kinds_of_tacet

-- name: explain_event
-- Returns an event as a whole.
--
--   :subject_id  tacet.subject_id  the subject
--   :kind        text              its kind
--
-- All rows of an event have the time of its commit, so any of them tells it. Parked rows are taken without an order:
-- with one, the planner would walk the index of their times while the table looks small. 10000 rows of the ledger are
-- looked at (EventFacts.countMax).

with source as materialized (
  select m.created_at, m.sender_id
  from (select :subject_id as subject_id, :kind::text as kind) w
  -- What is known of the event, as in claim.sql.
  left join lateral (
    select e.surface_id, e.sender_id, e.created_at, e.push_kind
    from (
      select c.conversation_id as surface_id, c.sender_id, c.created_at, 'message' as push_kind
      from tacet.message_context(tacet.message_of(w.subject_id)) c
      where w.kind = 'message'
      union all
      select c.surface_id, c.actor_id, c.dated_at, c.push_kind
      from tacet.event_content(w.kind, w.subject_id) c
      where w.kind <> 'message'
    ) e
    limit 1
  ) m on true
  where m.surface_id is not null or m.push_kind <> 'message'
  limit 1
-- include: facts_of_event

-- name: explain_event_alone
-- Returns what explain_event returns, without asking the host. The host's row is then unknown.
--
--   :subject_id  tacet.subject_id  the subject
--   :kind        text              its kind

with source as materialized (
  select null::timestamptz as created_at, (null::tacet.push_recipient).user_id as sender_id where false
-- include: facts_of_event

-- name: explain_instances
-- Returns processes of the service.
--
--   :instance_ids  text[]  their ids

select jsonb_build_object('id', i.id, 'host', i.host, 'pid', i.pid)::text
from tacet.instances i
where i.id = any (:instance_ids);

-- part: kinds_of_tacet
  select l.push_type as kind
    from (select l.push_type from tacet.push_log l where l.subject_id = :subject_id limit 1000) l
  union
  select i.kind from tacet.inbox i where i.subject_id = :subject_id
  union
  select d.kind from (select d.kind from tacet.deliveries d where d.subject_id = :subject_id limit 1000) d
  union
  select p.kind from (select p.kind from tacet.parked p where p.subject_id = :subject_id limit 1000) p
  union
  select p.kind from tacet.pushes p where p.id = tacet.row_of(:subject_id)
  union
  select 'read_sync' from tacet.read_syncs s where s.id = tacet.row_of(:subject_id)
) k
order by k.kind <> 'message', k.kind
limit 20;

-- part: facts_of_event
), inbox as materialized (
  select i.* from tacet.inbox i where i.subject_id = :subject_id and i.kind = :kind
), parked as materialized (
  select p.* from tacet.parked p where p.subject_id = :subject_id and p.kind = :kind limit 1000
), logged as materialized (
  select l.enqueued_at, l.history
  from tacet.push_log l
  where l.subject_id = :subject_id and l.push_type = :kind
  limit 10000
), committed as materialized (
  select coalesce(
    (select l.enqueued_at from logged l limit 1), (select i.enqueued_at from inbox i),
    (select p.enqueued_at from parked p limit 1)) as moment
), near as (
  select f.failed_at, f.sqlstate, f.subject_ids
  from (
    select least(greatest(m.moment, timestamptz '0001-01-01 00:00Z'), timestamptz '9999-12-31 00:00Z') as moment
    from (select coalesce((select c.moment from committed c), (select s.created_at from source s)) as moment) m
  ) t
  join tacet.trigger_failures f
    on f.failed_at between t.moment - interval '10 seconds' and t.moment + interval '60 seconds'
  where f.kind = :kind
)
select jsonb_build_object(
  'now', tacet.unix_us(clock_timestamp()),
  'subjectID', :subject_id,
  'kind', :kind,
  'source', (
    select jsonb_build_object(
      'createdAt', case when isfinite(s.created_at) then tacet.unix_us(s.created_at) end,
      'actorID', s.sender_id)
    from source s),
  'inbox', (
    select jsonb_build_object(
      'enqueuedAt', tacet.unix_us(i.enqueued_at),
      'availableAt', tacet.unix_us(i.available_at),
      'attempts', i.attempts, 'rescues', i.rescues, 'isClaimed', i.is_claimed, 'error', i.error)
    from inbox i),
  'parked', (
    select jsonb_build_object(
      'parkedAt', tacet.unix_us(p.parked_at),
      'attempts', p.attempts, 'reason', p.reason)
    from parked p
    where p.user_id is null
    order by p.parked_at desc
    limit 1),
  'enqueuedAt', (
    select case when isfinite(c.moment) then tacet.unix_us(c.moment) end
    from committed c),
  'recordedCount', (select count(*) from logged),
  'recordedClaims', coalesce(
    (
      select jsonb_agg(distinct h.claim)
      from logged l
      cross join lateral jsonb_path_query(l.history, 'lax $[*].claim ? (@ >= 1 && @ <= 2147483647).floor()') h (claim)
    ),
    '[]'),
  'triggerFailures', coalesce(
    (
      select jsonb_agg(jsonb_build_object(
        'failedAt', tacet.unix_us(f.failed_at),
        'sqlState', f.sqlstate,
        'concernsEvent', :subject_id = any (f.subject_ids)))
      from (
        (select n.* from near n where :subject_id = any (n.subject_ids) order by n.failed_at limit 5)
        union all
        (select n.* from near n where not :subject_id = any (n.subject_ids) order by n.failed_at limit 5)
      ) f
    ),
    '[]'),
  'trigger', case
    when :kind = 'message' then
      coalesce(
        (
          select t.tgenabled::text
          from pg_depend d
          join pg_trigger t on t.oid = d.objid
          where d.refclassid = 'pg_proc'::regclass and d.refobjid = to_regproc('tacet.enqueue_inserted_messages')
            and d.classid = 'pg_trigger'::regclass
          order by t.tgrelid
          limit 1
        ),
        'missing')
  end,
  'watchedSince', (
    select case when isfinite(m.applied_at) then tacet.unix_us(m.applied_at) end
    from tacet.migrations m
    where m.version = 1),
  'ledgerSince', (
    select case when isfinite(min(l.enqueued_at)) then tacet.unix_us(min(l.enqueued_at)) end
    from tacet.push_log l),
  'serviceSeenAt', (
    select case when isfinite(max(i.seen_at)) then tacet.unix_us(max(i.seen_at)) end
    from tacet.instances i)
)::text;

-- Why an event went as it did, and why each recipient got a push or none.
--
-- Each statement reads what is known of an event long after it happened, as one document of JSON whose members are those of the
-- type that it is decoded as. Every look-up has an index and a limit: nothing grows with the ledger, and little with the event.
-- Device tokens leave the database as their first eight characters. Statements whose names end in `_alone` read Tacet's tables
-- only, for an event for which the host's functions fail.

-- name: meaning_of_id(subject_id tacet.subject_id, user_id tacet.user_id)
-- Returns whether the ledger knows an id as a subject, and whether as a user.
--
-- subject_id: null if no subject can have it. user_id: null if no user can have it.

select
  exists (select from tacet.push_log l where l.subject_id = :subject_id) as is_subject,
  exists (select from tacet.push_log l where l.user_id = :user_id) as is_user;

-- name: explain_kinds(subject_id tacet.subject_id)
-- Returns the kinds of events that an id is the subject of, messages first.

select k.kind
from (
  select 'message' as kind where exists (select from tacet.message_context(tacet.message_of(:subject_id)))
  union
  select w.kind from tacet.kinds w where exists (select from tacet.watched_row_content(w.kind, :subject_id))
  union
-- include: kinds_of_tacet

-- name: explain_kinds_alone(subject_id tacet.subject_id)
-- Returns what explain_kinds returns, without asking the host.

select k.kind
from (
-- include: kinds_of_tacet

-- name: explain_user(user_id tacet.user_id, since_us bigint, events_max bigint)
-- Returns the events of which the ledger has a user, the newest first.

select l.subject_id, l.push_type as kind
from tacet.push_log l
where l.user_id = :user_id and l.enqueued_at >= now() - :since_us * interval '1 microsecond'
order by l.enqueued_at desc
limit :events_max;

-- name: explain_event(subject_id tacet.subject_id, kind text)
-- Returns an event as a whole.
--
-- All rows of an event have the time of its commit, so any of them tells it. Parked rows are taken without an order:
-- with one, the planner would walk the index of their times while the table looks small. 10000 rows of the ledger are
-- looked at (EventFacts.countMax).

with source as materialized (
  select m.created_at, m.sender_id
  from tacet.event_facts(:kind, :subject_id) m
  where m.surface_id is not null or m.push_kind <> 'message'
  limit 1
-- include: facts_of_event

-- name: explain_event_alone(subject_id tacet.subject_id, kind text)
-- Returns what explain_event returns, without asking the host. The host's row is then unknown.

with source as materialized (
  select null::timestamptz as created_at, (null::tacet.push_recipient).user_id as sender_id where false
-- include: facts_of_event

-- name: explain_instances(instance_ids text[])
-- Returns processes of the service.

select jsonb_build_object('id', i.id, 'host', i.host, 'pid', i.pid)::text
from tacet.instances i
where i.id = any (:instance_ids);

-- name: explain_recipients(subject_id tacet.subject_id, kind text, user_id tacet.user_id, users_max bigint, entries_max bigint)
-- Returns recipients of an event, in the order of their ids.
--
-- user_id: the one recipient, who is returned even if nothing is known; null for all. entries_max: entries of histories after which
-- no more users are returned.
--
-- Beside each document is how many users there would be without :entries_max.

with present as materialized (
  select v.user_id, coalesce(v.user_id = m.sender_id, false) as is_actor, m.surface_id
  from (select e.* from tacet.event_facts(:kind, :subject_id) e limit 1) m
  cross join lateral (
    select p.user_id
    from tacet.event_recipients(m.push_kind, :kind, :subject_id, m.surface_id) p
    where p.user_id between coalesce(:user_id, tacet.lowest_user_id())
      and coalesce(:user_id, tacet.highest_user_id(), p.user_id)
      and not tacet.has_blocked(p.user_id, m.sender_id)
  ) v
  order by v.user_id
  limit :users_max
-- include: facts_of_recipient
  'preferences', (
    select jsonb_build_object(
      'isOptedOut', f.is_opted_out, 'isMuted', f.is_muted, 'wantsMentionsOnly', f.mentions_only,
      'quietHoursRemaining', case when f.quiet_hours_remaining > interval '0'
        then (extract(epoch from least(f.quiet_hours_remaining, interval '2 days')) * 1000000)::bigint
      end)
    from tacet.recipient_preferences(u.user_id, :kind, v.surface_id, now()) f),
-- include: more_facts_of_recipient

-- name: explain_recipients_alone(
--   subject_id tacet.subject_id, kind text, user_id tacet.user_id, users_max bigint, entries_max bigint)
-- Returns what explain_recipients returns, without asking the host. Only a server's pushes and read syncs then say whom
-- they concern.
--
-- user_id: the one recipient, who is returned even if nothing is known; null for all. entries_max: entries of histories after which
-- no more users are returned.

with present as materialized (
  select o.user_id, false as is_actor, (null::tacet.push_content).surface_id
  from (
    select p.user_id from tacet.pushes p where p.id = tacet.row_of(:subject_id) and p.kind = :kind
    union all
    select s.user_id from tacet.read_syncs s where s.id = tacet.row_of(:subject_id) and :kind = 'read_sync'
  ) o
  where o.user_id between coalesce(:user_id, tacet.lowest_user_id())
      and coalesce(:user_id, tacet.highest_user_id(), o.user_id)
-- include: facts_of_recipient
  'preferences', null,
-- include: more_facts_of_recipient

-- name: explain_devices(user_ids tacet.user_id[])
-- Returns the devices of users that are in use, by the host contract.
--
-- user_ids: the documents are in their order.

select coalesce(
  (
    select jsonb_agg(jsonb_build_object(
      'device', left(tacet.target_mark(t.channel, t.address), 8), 'channel', left(t.channel, 32), 'app', left(t.app, 256),
      'environment', left(t.environment, 32))
      order by t.channel, t.address)
    from (select d.* from tacet.push_targets(u.user_id) d limit 20) t
  ),
  '[]')::text
from unnest(:user_ids) with ordinality as u (user_id, place)
order by u.place;

-- name: explain_dropped_devices(user_ids tacet.user_id[])
-- Returns the devices of users that were dropped last, with the platforms of the contract's default.
--
-- user_ids: the documents are in their order.
--
-- Reads the default's table, because the host contract has no function for dropped tokens.

select coalesce(
  (
    select jsonb_agg(jsonb_build_object(
      'device', left(tacet.target_mark(t.channel, t.address), 8), 'channel', left(t.channel, 32), 'app', left(t.app, 256), 'environment', left(t.environment, 32),
      'droppedAt',
      case when isfinite(t.invalidated_at) then tacet.unix_us(t.invalidated_at) end,
        'dropReason', left(t.invalidation_reason, 256))
      order by t.invalidated_at, t.address)
    from (
      (
        select 'apns' as channel, d.device_token as address, d.app, d.environment, d.invalidated_at, d.invalidation_reason
        from public.push_tokens d
        where d.user_id = u.user_id and d.invalidated_at is not null
          and lower(d.platform) in ('ios', 'ipados', 'macos', 'watchos', 'tvos', 'visionos', 'apns')
        order by d.invalidated_at desc
        limit 20
      )
      union all
      (
        select x.channel, x.address, x.app, null, x.dropped_at, x.drop_reason
        from tacet.targets x
        where x.user_id = u.user_id and x.dropped_at is not null
        order by x.dropped_at desc
        limit 20
      )
      order by 5 desc
      limit 20
    ) t
  ),
  '[]')::text
from unnest(:user_ids) with ordinality as u (user_id, place)
order by u.place;

-- name: explain_unread(log_ids uuid[])
-- Returns what is known of whether pushes are unread: a document for each that is looked at later, has made an event, or made none
-- because it was looked at before its time.

select jsonb_build_object(
  'logID', u.log_id, 'state', u.state, 'reason', left(u.reason, 256), 'attempts', u.attempts, 'status', u.status,
  'error', left(u.error, 256),
  'sentAt', case when isfinite(u.sent_at) then tacet.unix_us(u.sent_at) end,
  'occurredAt', case when isfinite(u.occurred_at) then tacet.unix_us(u.occurred_at) end,
  'at', case when isfinite(u.at) then tacet.unix_us(u.at) end)::text
from (
  select
    c.log_id, 'checked_later' as state, null as reason, 0 as attempts, null::int as status, null as error, null::timestamptz as sent_at,
    c.due_at as occurred_at, c.due_at as at
  from tacet.unread_checks c
  where c.log_id = any (:log_ids)
  union all
  select
    e.log_id, e.state, e.reason, e.attempts, e.status, e.error, e.sent_at, e.occurred_at, coalesce(e.ended_at, e.due_at)
  from tacet.host_events e
  where e.log_id = any (:log_ids) and e.type = 'push.unread'
  union all
  select l.id, 'cancelled', c.cause, 0, null, null, l.sent_at, l.sent_at + e.after, l.sent_at + e.after
  from tacet.push_log l
  join tacet.escalations e on e.kind = l.push_type
  join tacet.announcements a on a.event = 'push.unread' and (a.kinds is null or l.push_type = any (a.kinds))
  cross join lateral (select tacet.looked_at_because(l.id) as cause) c
  where l.id = any (:log_ids) and l.decision = 'sent' and c.cause <> 'not_known'
    and not exists (select from tacet.unread_checks k where k.log_id = l.id)
    and not exists (select from tacet.host_events h where h.log_id = l.id and h.type = 'push.unread')
) u;

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
  'owner', (
    select jsonb_build_object(
      'id', s.owner, 'host', o.host, 'pid', o.pid, 'leaseUntil', tacet.unix_us(coalesce(o.stopped_at, o.lease_until)))
    from tacet.shards s
    left join tacet.instances o on o.id = s.owner
    where s.owner is not null and s.shard = coalesce(
      (select tacet.shard_of(i.kind, i.subject_id, i.conversation_id) from inbox i),
      (
        select tacet.shard_of(d.kind, d.subject_id, d.conversation_id)
        from tacet.deliveries d
        where d.subject_id = :subject_id and d.kind = :kind
        limit 1
      ))),
  'serviceSeenAt', (
    select case when isfinite(max(i.seen_at)) then tacet.unix_us(max(i.seen_at)) end
    from tacet.instances i)
)::text;

-- part: facts_of_recipient
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

-- part: more_facts_of_recipient
  'devices', jsonb_build_array()
)::text as document, u.people_count
from counted u
left join present v on v.user_id = u.user_id
where coalesce(u.entries_before, 0) < :entries_max
order by u.user_id;

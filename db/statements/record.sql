-- What became of claims.

-- name: record(
--   subject_ids tacet.subject_id[], kinds text[], user_ids tacet.user_id[], decisions text[], reasons text[], enqueued_us bigint[],
--   claimed_us bigint[], woken_us bigint[], decided_us bigint[], accepted_us bigint[], devices_accepted bigint[],
--   attempts bigint[], due_us bigint[], states text[], accepted_devices text[], woken_by text[], are_deliveries boolean[],
--   conversation_ids tacet.conversation_id[], held_us bigint[], lanes text[], retries bigint[], device_waits text[],
--   log_ids uuid[], contents text[], histories text[], event_ids tacet.subject_id[], event_kinds text[], event_attempts integer[],
--   events_have_more boolean[], dead_tokens text[], dead_reasons text[], dead_since_us bigint[], learnt_tokens text[],
--   learnt_environments text[], learnt_registered_environments text[], learnt_registered_apps text[], learnt_read_us bigint[])
-- Records a batch of outcomes, queues what remains, and takes finished events from the inbox, in one transaction.
--
-- subject_ids to histories have an element for each recipient, the events' lists one for each event, and those of dead and learnt
-- tokens one for each device token.
--
-- reasons: null for a plain success. enqueued_us: when the event was committed. woken_us: from the wake-up to the claim's answer.
-- decided_us, accepted_us, due_us: from the claim on; due_us is null when nothing remains. accepted_devices: tokens, separated by
-- commas. held_us: for how long it has been held on purpose. lanes: the lane that it waits for. device_waits: devices that wait for
-- longer, a JSON object. contents: texts of pushes that campaigns have written. learnt_tokens: of devices that work in another
-- environment than registered. learnt_read_us: when the registration was read.
--
-- No recipient and no event may appear twice.
--
-- - Only the owner of a claim changes what is queued: the row is locked and its attempts compared. A caller whose work was
--   claimed again, because its lease ran out or its conversations have another owner, only adds what was really sent to the
--   ledger and to the accepted devices.
-- - Two records cannot wait for each other, because both take their locks in one order: events, deliveries, ledger,
--   device tokens, each by key. So a late acceptance locks the delivery it adds to before it touches the ledger.
-- - The ledger keeps the first final decision. A later acceptance by one more device is added to an earlier one.
--   Nothing remains for a recipient whose row the ledger refused.
-- - An event of which more recipients are to come stays in the inbox, as fresh as it was.
-- - No join is left to the planner. Rows are found by arrays of subjects, which only the primary key serves, and told
--   apart by hashed look-ups, which `is true` keeps from becoming joins. Places (`ctid`) do not serve: a row that was
--   waited for may have moved. `is_claimed::int = 1` means `is_claimed`, in words to which no partial index seems to
--   apply.
-- - Each claim's record adds one entry to the row's history, however often it is written. Of more than 40 entries
--   (HistoryEntry.keptMax) the first 20 stay, and the newest.
-- - A push that a shadow has withheld has the moment at which it would have been sent. Gaps between campaigns count from
--   there, so that what the shadow decides next is what the service would.
-- - A row keeps its id, because pushes that were sent carry it.
-- - Times and counts beyond the ledger's columns are cut. After an outage a wake-up can be hours old, and one refused
--   row would take its whole batch with it.

with reported as materialized (
  select
    o.*,
    timestamptz 'epoch' + o.claimed_us * interval '1 microsecond' as claimed_at,
    timestamptz 'epoch' + o.enqueued_us * interval '1 microsecond' as enqueued_at,
    timestamptz 'epoch' + (o.claimed_us + o.due_us) * interval '1 microsecond' as due_at
  from unnest(
    :subject_ids, :kinds::text[], :user_ids, :decisions::text[], :reasons::text[],
    :enqueued_us::bigint[], :claimed_us::bigint[], :woken_us::bigint[], :decided_us::bigint[], :accepted_us::bigint[],
    :devices_accepted::bigint[], :attempts::bigint[], :due_us::bigint[], :states::text[], :accepted_devices::text[],
    :woken_by::text[], :are_deliveries::boolean[], :conversation_ids, :held_us::bigint[], :lanes::text[],
    :retries::bigint[], :device_waits::text[], :log_ids::uuid[], :contents::text[], :histories::text[]
  ) as o (
    subject_id, kind, user_id, decision, reason,
    enqueued_us, claimed_us, woken_us, decided_us, accepted_us,
    devices_accepted, attempts, due_us, state, accepted_devices,
    woken_by, is_delivery, conversation_id, held_us, lane,
    retries, device_waits, log_id, content, history
  )
), events as materialized (
  select e.subject_id, e.kind, e.has_more
  from (
    select *
    from unnest(:event_ids, :event_kinds::text[], :event_attempts::int[], :events_have_more::boolean[])
      as e (subject_id, kind, attempts, has_more)
    order by e.subject_id, e.kind
  ) e
  -- Locks the inbox row of an event as long as its claim is the caller's. A message that its owner has taken without a write has no
  -- attempts yet: whoever takes its shard over counts one first.
  cross join lateral (
    select
    from tacet.inbox x
    where x.subject_id = e.subject_id and x.kind = e.kind and x.attempts = e.attempts
      and x.is_claimed::int = least(e.attempts, 1)
    for update
  ) i
), outcomes as materialized (
  select o.*, coalesce(d.is_owned, false) or not o.is_delivery and o.is_of_owned_event as is_owned
  from (
    select r.*, ((r.subject_id, r.kind) in (select e.subject_id, e.kind from events e)) is true as is_of_owned_event
    from reported r
    order by r.subject_id, r.user_id, r.kind
  ) o
  left join lateral (
    select o.is_delivery and x.attempts = o.attempts and x.is_claimed::int = 1 as is_owned
    from tacet.deliveries x
    where x.subject_id = o.subject_id and x.user_id = o.user_id and x.kind = o.kind
      and (o.is_delivery and x.attempts = o.attempts and x.is_claimed::int = 1 or o.decision = 'sent')
    for update
  ) d on true
), logged as (
  insert into tacet.push_log as l (
    id, subject_id, push_type, user_id, decision, reason, enqueued_at, claimed_at, held_until, sent_at,
    woken_microseconds, decided_microseconds, accepted_microseconds, devices_accepted, attempts, woken_by, content,
    history, metadata
  )
  select
    o.log_id, o.subject_id, o.kind, o.user_id, o.decision, o.reason, o.enqueued_at, o.claimed_at,
    case when o.decision = 'held' then o.due_at end,
    case
      when o.decision = 'sent' then o.claimed_at + o.accepted_us * interval '1 microsecond'
      when o.reason = 'shadow' then o.claimed_at + o.decided_us * interval '1 microsecond'
    end,
    -- include: measures
  from outcomes o
  where o.is_owned or o.decision = 'sent'
  order by o.subject_id, o.user_id, o.kind
  -- include: on_conflict
  returning l.subject_id, l.user_id, l.push_type
), remaining as (
  insert into tacet.deliveries as d (
    subject_id, kind, user_id, due_at, enqueued_at, attempts, state, accepted_devices, conversation_id, since,
    held_us, lane, retries, device_waits
  )
  select
    o.subject_id, o.kind, o.user_id, o.due_at, o.enqueued_at, o.attempts, o.state,
    string_to_array(o.accepted_devices, ','), o.conversation_id, o.claimed_at, o.held_us, o.lane,
    least(o.retries, 32767), o.device_waits
  from outcomes o
  where o.is_owned and o.due_us is not null
    and ((o.subject_id, o.user_id, o.kind) in (select g.subject_id, g.user_id, g.push_type from logged g)) is true
  on conflict (subject_id, user_id, kind) do update
  set
    due_at = excluded.due_at, state = excluded.state,
    accepted_devices = array(select unnest(d.accepted_devices) union select unnest(excluded.accepted_devices)),
    conversation_id = excluded.conversation_id, since = excluded.since, held_us = excluded.held_us,
    lane = excluded.lane, retries = excluded.retries, device_waits = excluded.device_waits, rescues = 0,
    is_claimed = false, error = null, released_at = null, released_by = null
), accepted as (
  update tacet.deliveries d
  set accepted_devices = array(
    select unnest(d.accepted_devices) union select unnest(string_to_array(o.accepted_devices, ',')))
  from outcomes o
  where d.subject_id = any (array(
      select l.subject_id from outcomes l where not l.is_owned and l.decision = 'sent'))
    and not o.is_owned and o.decision = 'sent'
    and o.subject_id = d.subject_id and o.user_id = d.user_id and o.kind = d.kind
), done as (
  delete from tacet.deliveries d
  where d.subject_id = any (array(select o.subject_id from outcomes o where o.is_delivery))
    and ((d.subject_id, d.user_id, d.kind) in (
      select o.subject_id, o.user_id, o.kind
      from outcomes o
      where o.is_owned and o.is_delivery
        and not (
          o.due_us is not null
          and ((o.subject_id, o.user_id, o.kind) in (select g.subject_id, g.user_id, g.push_type from logged g)) is true
        ))) is true
), finished as (
  delete from tacet.inbox i
  where i.subject_id = any (array(select e.subject_id from events e))
    and ((i.subject_id, i.kind) in (select e.subject_id, e.kind from events e where not e.has_more)) is true
), continued as (
  update tacet.inbox i
  set
    available_at = least(now(), i.enqueued_at), rescues = 0, is_claimed = false, error = null,
    told_until = (
      select o.user_id
      from outcomes o
      where o.subject_id = i.subject_id and o.kind = i.kind and not o.is_delivery
      order by o.user_id desc
      limit 1)
  where i.subject_id = any (array(select e.subject_id from events e where e.has_more))
    and ((i.subject_id, i.kind) in (select e.subject_id, e.kind from events e where e.has_more)) is true
), told as (
  select
    case
      when t.environment is null then tacet.drop_dead_device(t.device_token, t.reason, t.moment)
      else
        tacet.note_token_environment(
          t.device_token, t.environment, t.registered_environment, t.registered_app, t.moment)
    end
  from (
    select
      u.device_token, u.reason, u.environment, u.registered_environment, u.registered_app,
      timestamptz 'epoch' + u.moment_us * interval '1 microsecond' as moment
    from (
      select d.device_token, d.reason, null, null, null, d.since_us
      from unnest(:dead_tokens::text[], :dead_reasons::text[], :dead_since_us::bigint[])
        as d (device_token, reason, since_us)
      union all
      select n.device_token, null, n.environment, n.registered_environment, n.registered_app, n.read_us
      from unnest(
        :learnt_tokens::text[], :learnt_environments::text[], :learnt_registered_environments::text[],
        :learnt_registered_apps::text[], :learnt_read_us::bigint[]
      ) as n (
        device_token, environment, registered_environment, registered_app, read_us
      )
    ) as u (device_token, reason, environment, registered_environment, registered_app, moment_us)
    order by u.device_token
  ) t
)
select count(*) from told;

-- name: record_finished(
--   subject_ids tacet.subject_id[], kinds text[], user_ids tacet.user_id[], decisions text[], reasons text[], enqueued_us bigint[],
--   claimed_us bigint[], woken_us bigint[], decided_us bigint[], accepted_us bigint[], devices_accepted bigint[],
--   attempts bigint[], woken_by text[], log_ids uuid[], contents text[], histories text[], event_ids tacet.subject_id[],
--   event_kinds text[], event_attempts integer[])
-- Does what record does, for events that are over with it: nothing remains for any recipient, no more recipients are to
-- come, and nothing was learnt about device tokens. Nearly all are.
--
-- Setting up the plan of record takes longer than running this statement. Events are locked as they are deleted: by the index, so in
-- the order of their keys, as there. Returns the events that were taken from the inbox. It leaves out events whose claim is no longer
-- the caller's: only record knows what may be added to another claim's.

with taken as (
  delete from tacet.inbox i
  where i.subject_id = any (:event_ids) and i.is_claimed::int = least(i.attempts, 1)
    and ((i.subject_id, i.kind, i.attempts) in (
      select e.subject_id, e.kind, e.attempts
      from unnest(:event_ids, :event_kinds, :event_attempts) as e (subject_id, kind, attempts))) is true
  returning i.subject_id, i.kind
), logged as (
  insert into tacet.push_log as l (
    id, subject_id, push_type, user_id, decision, reason, enqueued_at, claimed_at, held_until, sent_at,
    woken_microseconds, decided_microseconds, accepted_microseconds, devices_accepted, attempts, woken_by, content,
    history, metadata
  )
  select
    o.log_id, o.subject_id, o.kind, o.user_id, o.decision, o.reason,
    timestamptz 'epoch' + o.enqueued_us * interval '1 microsecond',
    timestamptz 'epoch' + o.claimed_us * interval '1 microsecond',
    null,
    -- See record for shadows.
    case
      when o.decision = 'sent' then timestamptz 'epoch' + (o.claimed_us + o.accepted_us) * interval '1 microsecond'
      when o.reason = 'shadow' then timestamptz 'epoch' + (o.claimed_us + o.decided_us) * interval '1 microsecond'
    end,
    -- include: measures
  from unnest(
    :subject_ids, :kinds, :user_ids, :decisions, :reasons, :enqueued_us, :claimed_us, :woken_us, :decided_us,
    :accepted_us, :devices_accepted, :attempts, :woken_by, :log_ids, :contents, :histories
  ) as o (
    subject_id, kind, user_id, decision, reason, enqueued_us, claimed_us, woken_us, decided_us, accepted_us,
    devices_accepted, attempts, woken_by, log_id, content, history
  )
  where ((o.subject_id, o.kind) in (select t.subject_id, t.kind from taken t)) is true
  order by o.subject_id, o.user_id, o.kind
  -- include: on_conflict
)
select t.subject_id, t.kind from taken t;

-- name: last_failures(subject_id tacet.subject_id, kind text, user_ids tacet.user_id[])
-- Returns the reason of the last attempt that the ledger knows of, for recipients who have one.

select f.user_id, f.reason
from (
  select
    l.user_id,
    jsonb_path_query_array(l.history, '$[*].attempts[*] ? (exists (@.apns_id))') -> -1 ->> 'reason' as reason
  from tacet.push_log l
  where l.subject_id = :subject_id and l.push_type = :kind and l.user_id = any (:user_ids)
) f
where f.reason is not null;

-- part: measures
    -- Cut at what the columns hold. Only pushes with a text of ours can have metadata, and only for them is it looked
    -- up, by a function that keeps its table out of the plan.
    least(o.woken_us, 2147483647), least(o.decided_us, 2147483647),
    case when o.accepted_us is not null then least(o.accepted_us, 2147483647) end,
    least(o.devices_accepted, 32767), least(o.attempts, 32767), o.woken_by, o.content,
    case when o.history is null then '[]' else jsonb_build_array(o.history::jsonb) end,
    coalesce(case when o.content is not null then tacet.push_metadata(o.subject_id) end, '{}')

-- part: on_conflict
  on conflict (subject_id, user_id, push_type) do update
  set
    decision = excluded.decision, reason = excluded.reason, claimed_at = excluded.claimed_at,
    held_until = excluded.held_until, sent_at = coalesce(l.sent_at, excluded.sent_at),
    woken_microseconds = excluded.woken_microseconds, decided_microseconds = excluded.decided_microseconds,
    accepted_microseconds = excluded.accepted_microseconds,
    devices_accepted = greatest(l.devices_accepted, excluded.devices_accepted),
    attempts = excluded.attempts, woken_by = excluded.woken_by,
    history = case
      when l.history @> jsonb_build_array(jsonb_strip_nulls(jsonb_build_object(
        'claim', excluded.history -> 0 -> 'claim', 'by', excluded.history -> 0 -> 'by'))) then l.history
      when jsonb_array_length(l.history) < 40 then l.history || excluded.history
      else (l.history - 20) || excluded.history
    end
  where l.decision = 'held' or excluded.decision = 'sent'

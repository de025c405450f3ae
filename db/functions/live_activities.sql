-- Live Activities: their start, states and end.
--
-- Each function locks its activity until the transaction ends, so the states of one activity follow one another, and what is pushed is
-- what was committed. They return a word for the caller; a document that does not fit is an error of class 22.

set check_function_bodies = off;

-- Starts a Live Activity. is_pushed: by a push to the user's devices; otherwise the app has started it. alert: of the push; null for the
-- type's.
--
-- Returns `started`; `exists` for one of the same user and type, which is left as it is; `taken` for one of another; `unknown_type`.
create or replace function tacet.start_live_activity(
  id text, user_id tacet.user_id, type text, attributes jsonb, state jsonb, alert jsonb, is_pushed boolean
)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  declared tacet.activity_types;
  begun tacet.activities;
begin
  select t.* into declared from tacet.activity_types t where t.name = start_live_activity.type;
  if not found then
    return 'unknown_type';
  end if;
  attributes := tacet.live_activity_document(
    'attributes', declared.attributes, declared.attribute_defaults || coalesce(attributes, '{}'));
  state := tacet.live_activity_document('state', declared.state, coalesce(state, declared.first_state));
  alert := coalesce(
    tacet.live_activity_alert(alert),
    jsonb_build_object(
      'title', tacet.fill_template(declared.alert_title, attributes), 'body', tacet.fill_template(declared.alert_body, attributes)));
  perform tacet.check_live_activity_size(attributes, state, alert);
  insert into tacet.activities (id, user_id, type, attributes, state)
  values (
    start_live_activity.id, start_live_activity.user_id, declared.name, start_live_activity.attributes, start_live_activity.state)
  on conflict on constraint activities_pkey do nothing
  returning * into begun;
  if not found then
    return case
      when exists (
        select from tacet.activities a
        where a.id = start_live_activity.id and a.user_id = start_live_activity.user_id and a.type = declared.name)
      then 'exists' else 'taken'
    end;
  end if;
  if is_pushed then
    perform tacet.push_live_activity(begun, declared, 'start', state, alert, 10, null);
  else
    update tacet.activities a set version = 1 where a.id = begun.id;
  end if;
  return 'started';
end
$$;

-- Gives a Live Activity its next state, whole. priority: 10 for as many pushes in an hour as the type allows, else 5; null for the
-- type's. relevance: the activity with the highest one gets the Dynamic Island.
--
-- Returns `updated`; `unknown`; `ended`.
create or replace function tacet.update_live_activity(
  id text, state jsonb, alert jsonb default null, priority int default null, relevance double precision default null
)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  running tacet.activities;
  declared tacet.activity_types;
begin
  select a.* into running from tacet.activities a where a.id = update_live_activity.id for update;
  if not found then
    return 'unknown';
  elsif running.ended_at is not null then
    return 'ended';
  end if;
  select t.* into strict declared from tacet.activity_types t where t.name = running.type;
  perform tacet.change_live_activity(running, declared, state, alert, priority, relevance);
  return 'updated';
end
$$;

-- The same for an activity that the caller has locked and found to run.
create or replace function tacet.change_live_activity(
  running tacet.activities, declared tacet.activity_types, state jsonb, alert jsonb, priority int, relevance double precision
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  state := tacet.live_activity_document('state', declared.state, state);
  alert := tacet.live_activity_alert(alert);
  perform tacet.check_live_activity_size('{}', state, alert);
  perform tacet.push_live_activity(
    running, declared, 'update', state, alert, tacet.live_activity_priority(running.id, declared, alert, priority), relevance);
end
$$;

-- Ends a Live Activity, once. state: the last one; null for the newest with the changes of the type's end. reason: who ended it.
-- is_pushed: false when the device has ended it.
--
-- Returns `ended`; `unknown`; `already_ended`.
create or replace function tacet.end_live_activity(
  id text, state jsonb, alert jsonb, reason text, is_pushed boolean default true
)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  running tacet.activities;
  declared tacet.activity_types;
begin
  select a.* into running from tacet.activities a where a.id = end_live_activity.id for update;
  if not found then
    return 'unknown';
  elsif running.ended_at is not null then
    return 'already_ended';
  end if;
  select t.* into strict declared from tacet.activity_types t where t.name = running.type;
  state := case
    when state is null then running.state || declared.end_state else tacet.live_activity_document('state', declared.state, state)
  end;
  alert := tacet.live_activity_alert(alert);
  perform tacet.check_live_activity_size('{}', state, alert);
  update tacet.activities a
  set ended_at = clock_timestamp(), end_reason = end_live_activity.reason, state = end_live_activity.state
  where a.id = running.id;
  if is_pushed then
    perform tacet.push_live_activity(running, declared, 'end', state, alert, 10, null);
  end if;
  return 'ended';
end
$$;

-- The priority of an update: what is asked for, while the hour has pushes of priority 10 left. An alert is always urgent.
create or replace function tacet.live_activity_priority(id text, declared tacet.activity_types, alert jsonb, priority int)
returns int
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if alert is not null then
    return 10;
  elsif coalesce(priority, declared.priority) < 10 then
    return 5;
  end if;
  return case
    when declared.urgent_per_hour > (
      select count(*)
      from tacet.activity_updates u
      where u.activity_id = live_activity_priority.id and u.priority = 10 and u.created_at > clock_timestamp() - interval '1 hour')
      then 10
    else 5
  end;
end
$$;

-- Queues the push of a state; the caller holds the activity's lock.
--
-- A push that waits takes the newer state, and stays a start if it is one; an end before the start was sent leaves nothing to push. A
-- second passes between two pushes: since the last one was sent, or from now on while it is under way. Rows that wait are locked, so
-- that a claim sees either the former state or this one.
create or replace function tacet.push_live_activity(
  running tacet.activities, declared tacet.activity_types, event text, state jsonb, alert jsonb, priority int, relevance double precision
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  next_version int := running.version + 1;
  last tacet.activity_updates;
  last_push timestamptz := '-infinity';
  available timestamptz;
  stale timestamptz;
  dismissal timestamptz;
  is_waiting boolean := false;
begin
  select u.* into last
  from tacet.activity_updates u
  where u.activity_id = running.id and u.version = running.pushed_version;
  if found then
    perform from tacet.inbox i
    where i.subject_id = tacet.subject_of(last.id) and i.kind = 'live_activity' and not i.is_claimed
    for update;
    is_waiting := found;
    if not is_waiting then
      last_push := tacet.last_live_activity_push(last.id, running.user_id);
    end if;
  end if;
  if is_waiting and last.event = 'start' and push_live_activity.event = 'end' then
    delete from tacet.inbox i where i.subject_id = tacet.subject_of(last.id) and i.kind = 'live_activity';
    update tacet.activities a set version = next_version where a.id = running.id;
    return;
  end if;
  available := case
    when is_waiting then last.available_at else greatest(clock_timestamp(), running.next_push_at, last_push + interval '1 second')
  end;
  stale := available + case push_live_activity.event
    when 'start' then declared.stale_after_start when 'update' then declared.stale_after_update
  end;
  -- A moment in the past takes it off the screen at once.
  dismissal := case when push_live_activity.event = 'end' then
    available + case when declared.dismiss_after = interval '0' then interval '-1 second' else declared.dismiss_after end
  end;
  if is_waiting then
    update tacet.activity_updates u
    set
      version = next_version, merged = u.merged + 1, state = push_live_activity.state,
      event = case when u.event = 'start' then u.event else push_live_activity.event end,
      alert = coalesce(push_live_activity.alert, u.alert), priority = greatest(u.priority, push_live_activity.priority),
      relevance = coalesce(push_live_activity.relevance, u.relevance),
      stale_at = stale, dismiss_at = dismissal
    where u.id = last.id;
  else
    insert into tacet.activity_updates (
      activity_id, version, event, state, alert, priority, relevance, available_at, unix_time, stale_at, dismiss_at
    )
    values (
      running.id, next_version, push_live_activity.event, push_live_activity.state, push_live_activity.alert,
      push_live_activity.priority, push_live_activity.relevance, available,
      greatest(running.unix_time + 1, floor(extract(epoch from available))), stale, dismissal
    )
    returning * into last;
    insert into tacet.inbox (subject_id, kind, conversation_id, available_at)
    values (tacet.subject_of(last.id), 'live_activity', tacet.turn_of(running.user_id), available);
  end if;
  update tacet.activities a
  set
    version = next_version, pushed_version = next_version, state = push_live_activity.state, source_state = running.source_state,
    unix_time = last.unix_time, next_push_at = available + interval '1 second'
  where a.id = running.id;
  perform tacet.wake_at(available);
end
$$;

-- When a push was sent, or now while it is under way; -infinity for one that was not sent. One that waits to be tried again is locked.
create or replace function tacet.last_live_activity_push(id uuid, user_id tacet.user_id)
returns timestamptz
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  is_under_way boolean;
begin
  select d.is_claimed into is_under_way
  from tacet.deliveries d
  where d.subject_id = tacet.subject_of(last_live_activity_push.id) and d.kind = 'live_activity'
  for update;
  if is_under_way or exists (
    select from tacet.inbox i where i.subject_id = tacet.subject_of(last_live_activity_push.id) and i.kind = 'live_activity')
  then
    return clock_timestamp();
  end if;
  return coalesce(
    (
      select l.sent_at
      from tacet.push_log l
      where l.subject_id = tacet.subject_of(last_live_activity_push.id)
        and l.user_id = last_live_activity_push.user_id and l.push_type = 'live_activity'
    ), '-infinity');
end
$$;

-- Ends Live Activities that the system has ended: eight hours after their start. Then looks again at rows of watched
-- tables whose trigger failed. Returns how many were ended or looked at; at most activities_max of each.
create or replace function tacet.tend_live_activities(activities_max int)
returns int
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  overdue text;
  tended int := 0;
  missed record;
begin
  for overdue in
    select a.id
    from tacet.activities a
    where a.ended_at is null and a.started_at <= clock_timestamp() - interval '8 hours'
    order by a.started_at
    limit activities_max
    for update skip locked
  loop
    perform tacet.end_live_activity(overdue, null, null, 'eight_hours');
    tended := tended + 1;
  end loop;
  for missed in
    with taken as (
      update tacet.trigger_failures f
      set subject_ids = '{}'
      from (
        select x.ctid as place, x.subject_ids
        from tacet.trigger_failures x
        where x.subject_ids <> '{}' and x.kind like 'activity:%'
        order by x.failed_at
        limit activities_max
        for update skip locked
      ) x
      where f.ctid = x.place
      returning f.kind, x.subject_ids
    )
    select w as watched, s.id as subject_id
    from taken k
    join tacet.watched_activities w on w.type = substr(k.kind, 10)
    cross join unnest(k.subject_ids) as s (id)
  loop
    begin
      perform tacet.follow_row(missed.watched, missed.subject_id);
    exception
      when others then
        perform tacet.count_missed_events('activity:' || (missed.watched).type, sqlstate, sqlerrm, '{}');
    end;
    tended := tended + 1;
  end loop;
  return tended;
end
$$;

reset check_function_bodies;

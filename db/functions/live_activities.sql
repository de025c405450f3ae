-- Live Activities: their start, states and end.
--
-- Each function locks its activity until the transaction ends, so the states of one activity follow one another, and what is pushed is
-- what was committed. They return a word for the caller, and for a document that does not fit the type `refused: ` with what is wrong:
-- an error would be written to the server's log for each.

-- The id of a Live Activity that an app has announced. No app can take the id of another user's, a server's or a row's.
create or replace function tacet.announced_id(id text, user_id tacet.user_id)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select announced_id.user_id || ' ' || announced_id.id $$;

-- The Live Activity that a user's app means: one that it has announced, else the user's own of a server or a row. Null for neither.
create or replace function tacet.live_activity_of(id text, user_id tacet.user_id)
returns text
language plpgsql stable
as $$
begin
  return (
    select a.id
    from tacet.activities a
    where a.id in (live_activity_of.id, tacet.announced_id(live_activity_of.id, live_activity_of.user_id))
      and a.user_id = live_activity_of.user_id
    order by a.is_announced desc
    limit 1);
end
$$;

-- Starts a Live Activity. is_pushed: by a push to the user's devices; otherwise an app announces that it has started it. alert: of the
-- push; null for the type's. A user has at most 50 announced ones: the oldest give way.
--
-- Returns `started`; `exists` for one of the same user and type, which is left as it is; `taken` for one of another; `unknown_type`.
create or replace function tacet.start_live_activity(
  id text, user_id tacet.user_id, type text, attributes jsonb, state jsonb, alert jsonb, is_pushed boolean
)
returns text
language plpgsql volatile
as $$
declare
  declared tacet.activity_types;
  begun tacet.activities;
  own_id text := case when is_pushed then id else tacet.announced_id(id, user_id) end;
begin
  select t.* into declared from tacet.activity_types t where t.name = start_live_activity.type;
  if not found then
    return 'unknown_type';
  end if;
  begin
    attributes := tacet.live_activity_document(
      'attributes', declared.attributes, declared.attribute_defaults || coalesce(attributes, '{}'));
    state := tacet.live_activity_document('state', declared.state, coalesce(state, declared.first_state));
    alert := coalesce(
      tacet.live_activity_alert(alert),
      jsonb_build_object(
        'title', tacet.fill_template(declared.alert_title, attributes), 'body', tacet.fill_template(declared.alert_body, attributes)));
    perform tacet.check_live_activity_size(attributes, state, alert);
  exception
    when invalid_parameter_value then
      return tacet.refusal(sqlerrm);
  end;
  -- An app may say of one that a server has started what it says of its own.
  if not is_pushed and exists (
    select from tacet.activities a
    where a.id = start_live_activity.id and a.user_id = start_live_activity.user_id and a.type = declared.name)
  then
    return 'exists';
  end if;
  insert into tacet.activities (id, user_id, type, is_announced, attributes, state)
  values (
    own_id, start_live_activity.user_id, declared.name, not is_pushed, start_live_activity.attributes, start_live_activity.state)
  on conflict on constraint activities_pkey do nothing
  returning * into begun;
  if not found then
    return case
      when exists (
        select from tacet.activities a
        where a.id = own_id and a.user_id = start_live_activity.user_id and a.type = declared.name
          and a.is_announced = not is_pushed)
      then 'exists' else 'taken'
    end;
  end if;
  if is_pushed then
    perform tacet.push_live_activity(begun, declared, 'start', state, alert, 10, null);
    return 'started';
  end if;
  update tacet.activities a set version = 1 where a.id = begun.id;
  delete from tacet.activities a
  where a.id = any (array(
    select o.id
    from tacet.activities o
    where o.user_id = start_live_activity.user_id and o.is_announced
    order by o.started_at desc
    offset 50
    for update skip locked));
  return 'started';
end
$$;

-- What is wrong with a document, as the functions return it.
create or replace function tacet.refusal(message text)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select 'refused: ' || left(replace(message, 'tacet: ', ''), 200) $$;

-- Gives a Live Activity its next state, whole. priority: 10 for as many pushes in an hour as the type allows, else 5; null for the
-- type's. relevance: the activity with the highest one gets the Dynamic Island.
--
-- Returns `updated`; `unknown`; `ended`.
create or replace function tacet.update_live_activity(
  id text, state jsonb, alert jsonb default null, priority int default null, relevance double precision default null
)
returns text
language plpgsql volatile
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
  return tacet.change_live_activity(running, declared, state, alert, priority, relevance);
end
$$;

-- The same for an activity that the caller has locked and found to run.
create or replace function tacet.change_live_activity(
  running tacet.activities, declared tacet.activity_types, state jsonb, alert jsonb, priority int, relevance double precision
)
returns text
language plpgsql volatile
as $$
begin
  begin
    state := tacet.live_activity_document('state', declared.state, state);
    alert := tacet.live_activity_alert(alert);
    perform tacet.check_live_activity_size('{}', state, alert);
  exception
    when invalid_parameter_value then
      return tacet.refusal(sqlerrm);
  end;
  -- What is asked for, while the hour has pushes of priority 10 left. An alert is always urgent.
  priority := case
    when alert is not null then 10
    when coalesce(priority, declared.priority) < 10 then 5
    when declared.urgent_per_hour > (
      select count(*)
      from tacet.activity_updates u
      where u.activity_id = running.id and u.priority = 10 and u.created_at > clock_timestamp() - interval '1 hour') then 10
    else 5
  end;
  perform tacet.push_live_activity(running, declared, 'update', state, alert, priority, relevance);
  return 'updated';
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
  begin
    state := case
      when state is null then running.state || declared.end_state else tacet.live_activity_document('state', declared.state, state)
    end;
    alert := tacet.live_activity_alert(alert);
    perform tacet.check_live_activity_size('{}', state, alert);
  exception
    when invalid_parameter_value then
      return tacet.refusal(sqlerrm);
  end;
  update tacet.activities a
  set ended_at = clock_timestamp(), end_reason = end_live_activity.reason, state = end_live_activity.state
  where a.id = running.id;
  if is_pushed then
    perform tacet.push_live_activity(running, declared, 'end', state, alert, 10, null);
  end if;
  return 'ended';
end
$$;

-- Ends a Live Activity even when no push of its end can be made: the device then keeps the last state until the system removes it.
create or replace function tacet.surely_end_live_activity(id text, reason text)
returns void
language plpgsql volatile
as $$
declare
  word text;
begin
  begin
    word := tacet.end_live_activity(id, null, null, reason);
    if word not like 'refused:%' then
      return;
    end if;
    perform tacet.count_missed_events('live_activity', '22023', word, '{}');
  exception
    when others then
      perform tacet.count_missed_events('live_activity', sqlstate, sqlerrm, '{}');
  end;
  update tacet.activities a
  set ended_at = clock_timestamp(), end_reason = surely_end_live_activity.reason
  where a.id = surely_end_live_activity.id and a.ended_at is null;
end
$$;

-- Queues the push of a state; the caller holds the activity's lock.
--
-- A push that waits takes the newer state, and stays a start if it is one; an end before the start was sent leaves nothing to push. The
-- inbox row of one that waits is updated without a change, because a claim with an older snapshot then finds it moved and leaves it to
-- the next claim, which sees the newer state.
--
-- A second passes between two pushes; see tacet.next_live_activity_push. Of an activity the newest 4,000 pushes are kept.
create or replace function tacet.push_live_activity(
  running tacet.activities, declared tacet.activity_types, event text, state jsonb, alert jsonb, priority int, relevance double precision
)
returns void
language plpgsql volatile
as $$
declare
  next_version int := running.version + 1;
  last tacet.activity_updates;
  available timestamptz;
  stale timestamptz;
  dismissal timestamptz;
  is_waiting boolean := false;
begin
  select u.* into last
  from tacet.activity_updates u
  where u.activity_id = running.id and u.version = running.pushed_version;
  if found then
    update tacet.inbox i
    set available_at = i.available_at
    where i.subject_id = tacet.subject_of(last.id) and i.kind = 'live_activity' and not i.is_claimed
    returning i.available_at into available;
    is_waiting := found;
  end if;
  if is_waiting and last.event = 'start' and push_live_activity.event = 'end' then
    delete from tacet.inbox i where i.subject_id = tacet.subject_of(last.id) and i.kind = 'live_activity';
    update tacet.activities a set version = next_version where a.id = running.id;
    return;
  end if;
  if not is_waiting then
    available := greatest(
      clock_timestamp(), running.next_push_at, tacet.next_live_activity_push(last.id, running.user_id));
  end if;
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
    delete from tacet.activity_updates u where u.activity_id = running.id and u.version <= next_version - 4000;
  end if;
  update tacet.activities a
  set
    version = next_version, pushed_version = next_version, state = push_live_activity.state, source_state = running.source_state,
    unix_time = last.unix_time, next_push_at = available + interval '1 second'
  where a.id = running.id;
  perform tacet.wake_at(available);
end
$$;

-- When the push after this one may go: a second after it was sent, or from now on where it may be under way; -infinity where it is over
-- without having been sent. One that no device has taken because APNs asks to wait makes the next one wait as long.
--
-- Nothing is locked: the caller may be a transaction of the host that stays open. What is under way now is put right when it is
-- recorded, by tacet.space_live_activity.
create or replace function tacet.next_live_activity_push(id uuid, user_id tacet.user_id)
returns timestamptz
language plpgsql volatile
as $$
declare
  sent timestamptz;
  waits_until timestamptz;
begin
  if exists (
    select from tacet.inbox i
    where i.subject_id = tacet.subject_of(next_live_activity_push.id) and i.kind = 'live_activity')
    or exists (
      select from tacet.deliveries d
      where d.subject_id = tacet.subject_of(next_live_activity_push.id) and d.kind = 'live_activity'
        and (d.is_claimed or d.due_at <= clock_timestamp()))
  then
    return clock_timestamp() + interval '1 second';
  end if;
  select l.sent_at, case when l.devices_accepted = 0 and tacet.asks_to_wait(l.decision, l.reason) then l.held_until end
  into sent, waits_until
  from tacet.push_log l
  where l.subject_id = tacet.subject_of(next_live_activity_push.id) and l.user_id = next_live_activity_push.user_id
    and l.push_type = 'live_activity';
  return greatest(sent + interval '1 second', waits_until, '-infinity');
end
$$;

-- Whether a push that no device has taken waits because APNs has too many for a token.
create or replace function tacet.asks_to_wait(decision text, reason text)
returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select asks_to_wait.decision = 'held' and asks_to_wait.reason in ('TooManyRequests', 'http_429') $$;

-- Whether APNs has had too many for a token when a push was tried, by the history of the push; token: null for any.
create or replace function tacet.has_asked_to_wait(history jsonb, token text)
returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from jsonb_path_query(
      has_asked_to_wait.history, '$[*].attempts[*] ? (@.reason == "TooManyRequests" || @.reason == "http_429").device') a (device)
    where starts_with(has_asked_to_wait.token, a.device #>> '{}') is not false)
$$;

-- The trigger on the ledger: the push that waits behind one that was under way goes a second after it was sent, or when the wait that
-- APNs asks for is over. A part of the record, so it waits for no row: one that a transaction of the host has locked keeps its time.
create or replace function tacet.space_live_activity()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  earliest timestamptz := case
    when new.decision = 'sent' then new.sent_at + interval '1 second'
    when new.devices_accepted = 0 and tacet.asks_to_wait(new.decision, new.reason) then new.held_until
  end;
begin
  update tacet.inbox i
  set available_at = earliest
  from (
    select w.subject_id
    from tacet.activity_updates u
    join tacet.activities a on a.id = u.activity_id
    join tacet.activity_updates n on n.activity_id = a.id and n.version = a.pushed_version and n.version > u.version
    join tacet.inbox w on w.subject_id = tacet.subject_of(n.id) and w.kind = 'live_activity'
    where u.id = tacet.row_of(new.subject_id) and not w.is_claimed and w.available_at < earliest
    for update of w skip locked
  ) w
  where i.subject_id = w.subject_id and i.kind = 'live_activity';
  if found then
    perform tacet.wake_at(earliest);
  end if;
  return null;
end
$$;

-- Ends Live Activities that the system has ended: eight hours after their start. Then looks again at rows of watched tables that an
-- error kept from being followed. One that fails keeps nothing else waiting. Returns how many were ended or looked at; at most
-- activities_max of each.
create or replace function tacet.tend_live_activities(activities_max int)
returns int
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  tended int;
  missed record;
begin
  perform tacet.surely_end_live_activity(r.id, 'eight_hours')
  from (
    select a.id
    from tacet.activities a
    where a.ended_at is null and a.started_at <= clock_timestamp() - interval '8 hours'
    order by a.started_at
    limit activities_max
    for update skip locked
  ) r;
  get diagnostics tended = row_count;
  for missed in
    select substr(m.kind, 10) as type, m.subject_id from tacet.take_missed('^activity:', activities_max) m order by 1, 2
  loop
    perform tacet.surely_follow_row(missed.type, missed.subject_id);
    tended := tended + 1;
  end loop;
  return tended;
end
$$;

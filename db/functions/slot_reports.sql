-- What apps report of slots: actions that users take, acknowledgements of rows, and what devices may show.

-- Whether no further report of a user is noted: 5,000 are kept, more than an app of ten slots a day sends in two weeks. Rows go after
-- the retention.
create or replace function tacet.has_reported_enough(user_id tacet.user_id)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select count(*) = 5000
  from (select from tacet.notif_events e where e.user_id = has_reported_enough.user_id limit 5000) e
$$;

-- What devices call an occasion of a slot.
create or replace function tacet.occasion_name(occasion tacet.occasions)
returns text
language sql stable
as $$
  select format('%s.%s.%s', occasion.campaign, occasion.slot, occasion.fire_date)
$$;

-- The occasion of a user with this name, locked; null when there is none.
create or replace function tacet.named_occasion(user_id tacet.user_id, name text)
returns tacet.occasions
language sql volatile
as $$
  select d.*
  from tacet.occasions d
  where d.user_id = named_occasion.user_id and d.campaign = split_part(named_occasion.name, '.', 1)
    and d.slot = split_part(named_occasion.name, '.', 2) and d.fire_date = split_part(named_occasion.name, '.', 3)::date
  for update
$$;

-- Notes an action that a user has taken of an occasion's notification, and calls the campaign's function for it. The first report of an
-- id counts. A repeated one calls the function for its answer alone: what the function writes is undone.
--
-- identifier: of the occasion. outcome: noted, repeated, unknown_row, other_report for an id that was used for something else, or
-- too_many; the last three have no answer. An action of a push is also an opening. Waits for the disk.
create or replace function tacet.report_slot_action(
  user_id tacet.user_id, event_id uuid, action text, identifier text, happened_at timestamptz
)
returns table (outcome text, answer jsonb)
language plpgsql volatile rows 1
as $$
#variable_conflict use_variable
declare
  occasion tacet.occasions;
  is_full boolean;
  first_report tacet.notif_events;
  on_action text;
begin
  perform set_config('synchronous_commit', 'on', true);
  -- A choice of slots at the same time takes back what this puts off, or this sees the choice.
  perform tacet.lock_slots(user_id);
  is_full := tacet.has_reported_enough(user_id);
  occasion := tacet.named_occasion(user_id, identifier);
  insert into tacet.notif_events (happened_at, id, user_id, code, identifier)
  select happened_at, event_id, user_id, action, identifier
  where occasion.user_id is not null and not is_full
  on conflict do nothing;
  outcome := case when found then 'noted' else 'repeated' end;
  select e.* into first_report from tacet.notif_events e where e.user_id = user_id and e.id = event_id;
  if not found then
    outcome := case when is_full then 'too_many' else 'unknown_row' end;
  elsif (first_report.code, first_report.identifier) is distinct from (action, identifier) then
    outcome := 'other_report';
  else
    if outcome = 'noted' then
      perform tacet.acknowledge_occasion(occasion, 'opened', null, happened_at);
    end if;
    answer := tacet.snooze_occasion(occasion, action, happened_at, outcome = 'noted');
    select c.on_action into on_action from tacet.campaigns c where c.name = split_part(identifier, '.', 1);
  end if;
  if on_action is not null then
    begin
      execute format('select %s($1, $2, $3, $4)', on_action::regproc) into answer
        using user_id, action, split_part(identifier, '.', 3)::date, first_report.happened_at;
      if outcome = 'repeated' then
        raise sqlstate 'P0TAC';
      end if;
    exception
      when sqlstate 'P0TAC' then null;
    end;
  end if;
  return next;
end
$$;

-- What names the pushes of an occasion that the user has put off, for tacet.cancel_pushes.
create or replace function tacet.snooze_key(occasion tacet.occasions)
returns text
language sql stable
as $$
  select format('snooze %s %s', tacet.occasion_name(occasion), occasion.user_id)
$$;

-- What an action does with the push of an occasion: SNOOZE_30 sends it once more, 30 minutes after the action, at most three times, where
-- the campaign's category has that action. Any other action of the category ends it: what was to come is taken back, and nothing more
-- comes. is_new: false for a report that is repeated, which changes nothing. Answers whether the push comes again, where the action
-- asks for that.
--
-- Nothing comes again of a slot that is off or gone. The occasion is locked, so that of two actions at the same time the later one sees
-- the earlier one.
create or replace function tacet.snooze_occasion(
  occasion tacet.occasions, action text, happened_at timestamptz, is_new boolean
)
returns jsonb
language plpgsql volatile
as $$
declare
  minutes int := substring(action from '^SNOOZE_([1-9][0-9]{0,2})$')::int;
  moment timestamptz := happened_at + minutes * interval '1 minute';
  actions text[];
begin
  select array(select a ->> 'id' from jsonb_array_elements(c.definition -> 'category' -> 'actions') as a) into actions
  from tacet.campaigns c
  where c.name = occasion.campaign;
  if (action = any (actions)) is not true then
    return '{}';
  end if;
  if minutes is null then
    if is_new and occasion.snoozes > 0 then
      perform tacet.cancel_pushes(tacet.snooze_key(occasion));
    end if;
    return '{}';
  end if;
  if not is_new then
    return jsonb_build_object('snoozed', occasion.snoozes > 0);
  end if;
  if occasion.title is null or occasion.snoozes >= 3 or moment < clock_timestamp() - interval '15 minutes'
    or not exists (
      select from tacet.slot_of_day(occasion.campaign, occasion.user_id, occasion.slot, occasion.phase, occasion.fire_date))
    or exists (
      select from tacet.notif_events e
      where e.user_id = occasion.user_id and e.identifier = tacet.occasion_name(occasion) and e.code = any (actions)
        and e.code !~ '^SNOOZE_')
  then
    return '{"snoozed": false}';
  end if;
  update tacet.occasions d
  set snoozes = d.snoozes + 1
  where d.user_id = occasion.user_id and d.campaign = occasion.campaign and d.slot = occasion.slot
    and d.fire_date = occasion.fire_date;
  perform tacet.queue_occasion(
    occasion, gen_random_uuid(), null, moment, jsonb_build_object('snooze', occasion.snoozes + 1), tacet.snooze_key(occasion));
  perform tacet.wake(null);
  return '{"snoozed": true}';
end
$$;

-- Notes events that an app reports, each id once, and what follows from them; arrays have an element for each event, in the order
-- in which they happened. device_tokens: in lower case; one that is not the user's has no effect. circumstances: what else the app
-- said, JSON objects. Returns the places of the events that were not known before; 0 alone for a user who has reported enough. Waits
-- for the disk.
create or replace function tacet.report_slot_events(
  user_id tacet.user_id, ids uuid[], codes text[], identifiers text[], device_tokens text[], circumstances text[],
  happened_ats timestamptz[]
)
returns setof bigint
language plpgsql volatile
as $$
#variable_conflict use_variable
declare
  places bigint[];
  own_tokens text[];
  event record;
begin
  perform set_config('synchronous_commit', 'on', true);
  perform tacet.lock_slots(user_id);
  if tacet.has_reported_enough(user_id) then
    return next 0;
    return;
  end if;
  with reported as materialized (
    select distinct on (r.id) r.*
    from unnest(ids, codes, identifiers, device_tokens, circumstances::jsonb[], happened_ats)
      with ordinality as r (id, code, identifier, device_token, circumstances, happened_at, place)
    order by r.id, r.place
  ), entered as (
    insert into tacet.notif_events as e (happened_at, id, user_id, code, identifier, device_token, circumstances)
    select r.happened_at, r.id, user_id, r.code, r.identifier, r.device_token, r.circumstances from reported r
    on conflict do nothing
    returning e.id
  )
  select coalesce(array_agg(r.place), '{}') into places from entered n join reported r on r.id = n.id;

  own_tokens := array(select lower(d.device_token) from tacet.device_tokens(user_id) d);
  -- Commits lock a user's rows in this order too.
  perform tacet.named_occasion(user_id, n.name)
  from (
    select distinct i.name, split_part(i.name, '.', 3) as day, split_part(i.name, '.', 2) as slot
    from unnest(identifiers) as i (name)
    where i.name is not null
    order by 2, 3, 1
  ) n;
  for event in
    select
      e.code, e.identifier, e.happened_at, case when e.device_token = any (own_tokens) then e.device_token end as token
    from unnest(places) as n (place)
    join tacet.notif_events e on e.user_id = user_id and e.id = ids[n.place]
    -- Of what a device did with a row, the latest counts, in whatever order that is reported.
    where not exists (
      select from tacet.notif_events l
      where e.code in ('armed', 'cancelled') and l.code in ('armed', 'cancelled') and l.user_id = e.user_id
        and l.identifier = e.identifier and l.device_token = e.device_token and l.happened_at > e.happened_at)
    order by n.place
  loop
    perform tacet.acknowledge_occasion(
      tacet.named_occasion(user_id, event.identifier), event.code, event.token, event.happened_at);
    if event.token is not null and event.code in ('PERMISSION_DENIED', 'SCHEDULE_DENIED') then
      perform tacet.note_device_permission(user_id, event.token, true, null, least(event.happened_at, clock_timestamp()));
    elsif event.token is not null and event.code = 'EXACT_ALARM_MISSING' then
      perform tacet.note_device_permission(user_id, event.token, null, 600, least(event.happened_at, clock_timestamp()));
    end if;
  end loop;
  return query select n.place from unnest(places) as n (place);
end
$$;

-- Notes what a device did with an occasion, which is locked, or that its user has opened it. armed adds the device to those that show it by
-- themselves, at most 64, and cancelled takes it back. token: of the user's device; null when unknown. What is opened more than ten minutes
-- before its time, as early as a device without exact alarms may show it, was sent on demand.
--
-- Opened are also its pushes: its own, which does not come any more if it still waits, and those that it has been put off to.
create or replace function tacet.acknowledge_occasion(
  occasion tacet.occasions, code text, token text, moment timestamptz
)
returns void
language plpgsql volatile
as $$
declare
  before text := tacet.occasion_state(occasion);
  is_armed boolean := token = any (occasion.armed_by);
  after text := tacet.occasion_after(
    before,
    case code
      when 'armed' then case when token is not null and not is_armed and cardinality(occasion.armed_by) < 64 then 'armed' end
      when 'cancelled' then case when occasion.armed_by = array[token] then 'disarmed' end
      when 'opened' then
        case when before not in ('scheduled', 'armed') or occasion.fire_at <= moment + interval '10 minutes' then 'opened' end
      else code
    end);
begin
  update tacet.occasions d
  set
    changed_at = clock_timestamp(), status = coalesce(tacet.occasion_status(after), d.status),
    available_at = case when after = 'scheduled' then d.fire_at else d.available_at end,
    armed_by = case code
      when 'armed' then d.armed_by || token when 'cancelled' then array_remove(d.armed_by, token) else d.armed_by
    end
  where d.user_id = occasion.user_id and d.campaign = occasion.campaign and d.slot = occasion.slot
    and d.fire_date = occasion.fire_date and (after is not null or code = 'cancelled' and is_armed and d.status = 'armed');
  if code <> 'opened' then
    return;
  end if;
  if after = 'opened' then
    perform tacet.recall_push(occasion.push_id, occasion.user_id);
  end if;
  update tacet.push_log l
  set opened = true, opened_at = least(moment, clock_timestamp())
  from (
    select occasion.push_id
    union
    select p.id
    from tacet.pushes p
    where p.user_id = occasion.user_id and p.cancel_key = tacet.snooze_key(occasion)
  ) p
  where l.subject_id = tacet.subject_of(p.push_id) and l.user_id = occasion.user_id and l.decision = 'sent' and not l.opened;
end
$$;

-- Whether a user has devices, and none of them may show anything. Most users have none that may not, and are told by an index: a
-- statement of its own, because the one about devices takes longer to begin than that one takes.
create or replace function tacet.is_denied(user_id tacet.user_id)
returns boolean
language plpgsql stable
as $$
declare
  denied text[] := array(select m.device_token from tacet.device_permissions m where m.user_id = is_denied.user_id and m.is_denied);
begin
  if denied = '{}' then
    return false;
  end if;
  return (select bool_and(lower(d.address) = any (denied)) is true from tacet.push_targets(is_denied.user_id) d);
end
$$;

-- Notes what a device may show; null keeps what is known. moment: when that was so. An older report changes no newer permission.
-- What another user's session on the device has said is forgotten, and what the user's dropped devices have said. What is to come of a
-- user no device of whom may show anything is skipped at once.
create or replace function tacet.note_device_permission(
  user_id tacet.user_id, device_token text, is_denied boolean, tolerance_seconds int, moment timestamptz
)
returns void
language plpgsql volatile
as $$
#variable_conflict use_variable
begin
  insert into tacet.device_permissions as p (changed_at, user_id, tolerance_seconds, is_denied, device_token)
  values (moment, user_id, coalesce(tolerance_seconds, 0), coalesce(is_denied, false), lower(device_token))
  on conflict on constraint device_permissions_pkey do update
  set
    changed_at = case
      when p.user_id <> excluded.user_id then excluded.changed_at
      when is_denied is null then p.changed_at
      else greatest(p.changed_at, excluded.changed_at)
    end,
    user_id = excluded.user_id,
    tolerance_seconds = case
      when tolerance_seconds is null and p.user_id = excluded.user_id then p.tolerance_seconds else excluded.tolerance_seconds
    end,
    is_denied = case
      when p.user_id = excluded.user_id and (is_denied is null or p.changed_at > excluded.changed_at) then p.is_denied
      else excluded.is_denied
    end;
  delete from tacet.device_permissions p
  where p.user_id = user_id and p.device_token <> lower(device_token)
    and not exists (select from tacet.device_tokens(user_id) d where lower(d.device_token) = p.device_token);
  if is_denied and tacet.is_denied(user_id) then
    -- What is being rendered does not know it.
    perform tacet.lock_slots(user_id);
    update tacet.slots s set version = s.version + 1 where s.user_id = user_id;
    update tacet.occasions d
    set
      status = tacet.occasion_status(tacet.occasion_after(tacet.occasion_state(d), 'denied')), reason = 'permission_denied',
      changed_at = clock_timestamp(), armed_by = '{}'
    where d.user_id = user_id and d.has_slot and tacet.occasion_after(tacet.occasion_state(d), 'denied') is not null;
  end if;
end
$$;

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

-- Notes an action that a user has taken of a row's notification, and calls the campaign's function for it. The first report of an
-- id counts. A repeated one calls the function for its answer alone: what the function writes is undone.
--
-- identifier: of the row. outcome: noted, repeated, unknown_row, other_report for an id that was used for something else, or
-- too_many; the last three have no answer. An action of a push is also an opening. Waits for the disk.
create or replace function tacet.report_slot_action(
  user_id tacet.user_id, event_id uuid, action text, identifier text, campaign text, slot text, day date,
  happened_at timestamptz
)
returns table (outcome text, answer jsonb)
language plpgsql volatile rows 1
as $$
declare
  first_report tacet.notif_events;
  on_action text;
begin
  perform set_config('synchronous_commit', 'on', true);
  -- A choice of slots at the same time takes back what this puts off, or this sees the choice.
  perform tacet.lock_slots(report_slot_action.user_id);
  insert into tacet.notif_events (happened_at, id, user_id, code, identifier)
  select
    report_slot_action.happened_at, report_slot_action.event_id, report_slot_action.user_id, report_slot_action.action,
    report_slot_action.identifier
  from tacet.occasions d
  where d.user_id = report_slot_action.user_id and d.campaign = report_slot_action.campaign
    and d.slot = report_slot_action.slot and d.fire_date = report_slot_action.day
    and not tacet.has_reported_enough(report_slot_action.user_id)
  on conflict do nothing;
  outcome := case when found then 'noted' else 'repeated' end;
  select e.* into first_report
  from tacet.notif_events e
  where e.user_id = report_slot_action.user_id and e.id = report_slot_action.event_id;
  if not found then
    outcome := case when tacet.has_reported_enough(report_slot_action.user_id) then 'too_many' else 'unknown_row' end;
  elsif (first_report.code, first_report.identifier)
    is distinct from (report_slot_action.action, report_slot_action.identifier)
  then
    outcome := 'other_report';
  else
    if outcome = 'noted' then
      perform tacet.open_slot_row(
        first_report.user_id, report_slot_action.campaign, report_slot_action.slot, report_slot_action.day,
        first_report.happened_at);
    end if;
    answer := tacet.snooze_slot_row(
      first_report.user_id, report_slot_action.campaign, report_slot_action.slot, report_slot_action.day, first_report.code,
      first_report.happened_at, outcome = 'noted');
    select c.on_action into on_action from tacet.campaigns c where c.name = report_slot_action.campaign;
  end if;
  if on_action is not null then
    begin
      execute format('select %s($1, $2, $3, $4)', on_action::regproc) into answer
        using first_report.user_id, first_report.code, report_slot_action.day, first_report.happened_at;
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

-- What names the pushes of a row that the user has put off, for tacet.cancel_pushes.
create or replace function tacet.snooze_key(campaign text, slot text, day date, user_id tacet.user_id)
returns text
language sql stable
as $$
  select format('snooze %s.%s.%s %s', campaign, slot, day, user_id)
$$;

-- What an action does with the push of a row: SNOOZE_30 sends it once more, 30 minutes after the action, at most three times, where the
-- campaign's category has that action. Any other action of the category ends it: what was to come is taken back, and nothing more
-- comes. is_new: false for a report that is repeated, which changes nothing. Answers whether the push comes again, where the action
-- asks for that.
--
-- Nothing comes again of a slot that is off or gone. The row is locked first, so that of two actions at the same time the later one
-- sees the earlier one.
create or replace function tacet.snooze_slot_row(
  user_id tacet.user_id, campaign text, slot text, day date, action text, happened_at timestamptz, is_new boolean
)
returns jsonb
language plpgsql volatile
as $$
declare
  minutes int := substring(snooze_slot_row.action from '^SNOOZE_([1-9][0-9]{0,2})$')::int;
  moment timestamptz := snooze_slot_row.happened_at + minutes * interval '1 minute';
  row_name text := format('%s.%s.%s', snooze_slot_row.campaign, snooze_slot_row.slot, snooze_slot_row.day);
  key text := tacet.snooze_key(
    snooze_slot_row.campaign, snooze_slot_row.slot, snooze_slot_row.day, snooze_slot_row.user_id);
  actions text[];
  found_row tacet.occasions;
begin
  select array(select a ->> 'id' from jsonb_array_elements(c.definition -> 'category' -> 'actions') as a) into actions
  from tacet.campaigns c
  where c.name = snooze_slot_row.campaign;
  if (snooze_slot_row.action = any (actions)) is not true then
    return '{}';
  end if;
  select d.* into found_row
  from tacet.occasions d
  where d.user_id = snooze_slot_row.user_id and d.campaign = snooze_slot_row.campaign and d.slot = snooze_slot_row.slot
    and d.fire_date = snooze_slot_row.day
  for update;
  if minutes is null then
    if snooze_slot_row.is_new and found_row.snoozes > 0 then
      perform tacet.cancel_pushes(key);
    end if;
    return '{}';
  end if;
  if not snooze_slot_row.is_new then
    return jsonb_build_object('snoozed', found_row.snoozes > 0);
  end if;
  if found_row.title is null or found_row.snoozes >= 3 or moment < clock_timestamp() - interval '15 minutes'
    or not exists (
      select from tacet.slot_of_day(found_row.campaign, found_row.user_id, found_row.slot, found_row.phase, found_row.fire_date))
    or exists (
    select from tacet.notif_events e
    where e.user_id = snooze_slot_row.user_id and e.identifier = row_name and e.code = any (actions)
      and e.code !~ '^SNOOZE_'
  ) then
    return '{"snoozed": false}';
  end if;
  update tacet.occasions d
  set snoozes = d.snoozes + 1
  where d.user_id = found_row.user_id and d.campaign = found_row.campaign and d.slot = found_row.slot
    and d.fire_date = found_row.fire_date;
  perform tacet.queue_occasion(
    found_row, gen_random_uuid(), null, moment, jsonb_build_object('snooze', found_row.snoozes + 1), key);
  perform tacet.wake(null);
  return '{"snoozed": true}';
end
$$;

-- Notes events that an app reports, each id once, and what follows from them; arrays have an element for each event, in the order
-- in which they happened. device_tokens: in lower case; one that is not the user's has no effect. circumstances: what else the app
-- said, JSON objects. Returns the places of the events that were not known before; 0 alone for a user who has reported enough. Waits
-- for the disk.
create or replace function tacet.report_slot_events(
  user_id tacet.user_id, ids uuid[], codes text[], identifiers text[], campaigns text[], slots text[], fire_dates date[],
  device_tokens text[], circumstances text[], happened_ats timestamptz[]
)
returns setof bigint
language plpgsql volatile
as $$
declare
  places bigint[];
  own_tokens text[];
  event record;
begin
  perform set_config('synchronous_commit', 'on', true);
  perform tacet.lock_slots(report_slot_events.user_id);
  if tacet.has_reported_enough(report_slot_events.user_id) then
    return next 0;
    return;
  end if;
  with reported as materialized (
    select distinct on (r.id) r.*
    from unnest(ids, codes, identifiers, device_tokens, circumstances, happened_ats)
      with ordinality as r (id, code, identifier, device_token, circumstances, happened_at, place)
    order by r.id, r.place
  ), entered as (
    insert into tacet.notif_events as e (happened_at, id, user_id, code, identifier, device_token, circumstances)
    select
      r.happened_at, r.id, report_slot_events.user_id, r.code, r.identifier, r.device_token, r.circumstances::jsonb
    from reported r
    on conflict do nothing
    returning e.id
  )
  select coalesce(array_agg(r.place), '{}') into places from entered n join reported r on r.id = n.id;

  own_tokens := array(select lower(d.device_token) from tacet.device_tokens(report_slot_events.user_id) d);
  -- Commits lock rows in this order too.
  perform
  from tacet.occasions d
  where d.user_id = report_slot_events.user_id
    and (d.campaign, d.slot, d.fire_date) in (
      select r.campaign, r.slot, r.fire_date from unnest(campaigns, slots, fire_dates) as r (campaign, slot, fire_date))
  order by d.fire_at
  for update;
  for event in
    select
      r.code, r.campaign, r.slot, r.fire_date, r.happened_at,
      case when r.device_token = any (own_tokens) then r.device_token end as token
    from unnest(codes, identifiers, campaigns, slots, fire_dates, device_tokens, happened_ats)
      with ordinality as r (code, identifier, campaign, slot, fire_date, device_token, happened_at, place)
    where r.place = any (places)
      -- Of what a device did with a row, the latest counts, in whatever order that is reported.
      and not exists (
        select from tacet.notif_events e
        where r.code in ('armed', 'cancelled') and e.code in ('armed', 'cancelled') and e.user_id = report_slot_events.user_id
          and e.identifier = r.identifier and e.device_token = r.device_token and e.happened_at > r.happened_at)
    order by r.place
  loop
    if event.campaign is not null then
      if event.code = 'opened' then
        perform tacet.open_slot_row(
          report_slot_events.user_id, event.campaign, event.slot, event.fire_date, event.happened_at);
      else
        perform tacet.acknowledge_slot_row(
          report_slot_events.user_id, event.campaign, event.slot, event.fire_date, event.code, event.token, event.happened_at);
      end if;
    end if;
    if event.token is not null then
      case event.code
        when 'PERMISSION_DENIED', 'SCHEDULE_DENIED' then
          perform tacet.note_device_permission(
            report_slot_events.user_id, event.token, true, null, least(event.happened_at, clock_timestamp()));
        when 'EXACT_ALARM_MISSING' then
          perform tacet.note_device_permission(
            report_slot_events.user_id, event.token, null, 600, least(event.happened_at, clock_timestamp()));
        else null;
      end case;
    end if;
  end loop;
  return query select n.place from unnest(places) as n (place);
end
$$;

-- Notes what a device did with an occasion. armed adds the device to those that show it by themselves, at most 64, and cancelled takes
-- it back. token: of the user's device; null when unknown. What is opened more than ten minutes before its time, as early as a device
-- without exact alarms may show it, was sent on demand.
create or replace function tacet.acknowledge_slot_row(
  user_id tacet.user_id, campaign text, slot text, fire_date date, code text, token text, moment timestamptz
)
returns void
language sql volatile
as $$
  update tacet.occasions d
  set
    changed_at = clock_timestamp(), armed_by = n.armed_by,
    status = coalesce(tacet.occasion_status(n.state), d.status),
    available_at = case when n.state = 'scheduled' then d.fire_at else d.available_at end
  from (
    select
      a.place, a.armed_by, a.is_known,
      tacet.occasion_after(
        a.state,
        case acknowledge_slot_row.code
          when 'cancelled' then case when a.armed_by = '{}' then 'disarmed' end
          when 'opened' then case when a.state not in ('scheduled', 'armed') or a.is_due then 'opened' end
          else acknowledge_slot_row.code
        end
      ) as state
    from (
      select
        o.ctid as place, tacet.occasion_state(o) as state,
        o.fire_at <= acknowledge_slot_row.moment + interval '10 minutes' as is_due,
        acknowledge_slot_row.token = any (o.armed_by) as is_known,
        case acknowledge_slot_row.code
          when 'armed' then o.armed_by || acknowledge_slot_row.token
          when 'cancelled' then array_remove(o.armed_by, acknowledge_slot_row.token)
          else o.armed_by
        end as armed_by
      from tacet.occasions o
      where o.user_id = acknowledge_slot_row.user_id and o.campaign = acknowledge_slot_row.campaign
        and o.slot = acknowledge_slot_row.slot and o.fire_date = acknowledge_slot_row.fire_date
      limit 1
    ) a
  ) n
  where d.ctid = n.place
    and case acknowledge_slot_row.code
      when 'armed' then
        n.state is not null and acknowledge_slot_row.token is not null and not n.is_known and cardinality(n.armed_by) <= 64
      when 'cancelled' then n.is_known and d.status = 'armed' and (n.state is not null or n.armed_by <> '{}')
      else n.state is not null
    end
$$;

-- Marks a row as opened, and its pushes: the row's own, which does not come any more if it still waits, and those that it has been
-- snoozed to.
create or replace function tacet.open_slot_row(user_id tacet.user_id, campaign text, slot text, day date, moment timestamptz)
returns void
language sql volatile
as $$
  select tacet.acknowledge_slot_row(
    open_slot_row.user_id, open_slot_row.campaign, open_slot_row.slot, open_slot_row.day, 'opened', null, open_slot_row.moment);
  select tacet.recall_push(d.push_id, d.user_id)
  from tacet.occasions d
  where d.user_id = open_slot_row.user_id and d.campaign = open_slot_row.campaign and d.slot = open_slot_row.slot
    and d.fire_date = open_slot_row.day and d.status = 'opened';
  update tacet.push_log l
  set opened = true, opened_at = least(open_slot_row.moment, clock_timestamp())
  from (
    select d.push_id
    from tacet.occasions d
    where d.user_id = open_slot_row.user_id and d.campaign = open_slot_row.campaign and d.slot = open_slot_row.slot
      and d.fire_date = open_slot_row.day
    union
    select p.id
    from tacet.pushes p
    where p.user_id = open_slot_row.user_id
      and p.cancel_key = tacet.snooze_key(
        open_slot_row.campaign, open_slot_row.slot, open_slot_row.day, open_slot_row.user_id)
  ) p
  where l.subject_id = tacet.subject_of(p.push_id) and l.user_id = open_slot_row.user_id and l.decision = 'sent' and not l.opened
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
begin
  insert into tacet.device_permissions as p (changed_at, user_id, tolerance_seconds, is_denied, device_token)
  values (
    note_device_permission.moment, note_device_permission.user_id, coalesce(note_device_permission.tolerance_seconds, 0),
    coalesce(note_device_permission.is_denied, false), lower(note_device_permission.device_token)
  )
  on conflict on constraint device_permissions_pkey do update
  set
    changed_at = case
      when p.user_id <> excluded.user_id then excluded.changed_at
      when note_device_permission.is_denied is null then p.changed_at
      else greatest(p.changed_at, excluded.changed_at)
    end,
    user_id = excluded.user_id,
    tolerance_seconds = case
      when note_device_permission.tolerance_seconds is null and p.user_id = excluded.user_id then p.tolerance_seconds
      else excluded.tolerance_seconds
    end,
    is_denied = case
      when p.user_id = excluded.user_id
        and (note_device_permission.is_denied is null or p.changed_at > excluded.changed_at)
        then p.is_denied
      else excluded.is_denied
    end;
  delete from tacet.device_permissions p
  where p.user_id = note_device_permission.user_id and p.device_token <> lower(note_device_permission.device_token)
    and not exists (
      select from tacet.device_tokens(note_device_permission.user_id) d where lower(d.device_token) = p.device_token
    );
  if note_device_permission.is_denied and tacet.is_denied(note_device_permission.user_id) then
    -- What is being rendered does not know it.
    perform tacet.lock_slots(note_device_permission.user_id);
    update tacet.slots s set version = s.version + 1 where s.user_id = note_device_permission.user_id;
    update tacet.occasions d
    set
      status = tacet.occasion_status(tacet.occasion_after(tacet.occasion_state(d), 'denied')), reason = 'permission_denied',
      changed_at = clock_timestamp(), armed_by = '{}'
    where d.user_id = note_device_permission.user_id and d.has_slot
      and tacet.occasion_after(tacet.occasion_state(d), 'denied') is not null;
  end if;
end
$$;

-- Notes the authorization that an app has for notifications on a device, when it says one: denied, or authorized or provisional;
-- with not_determined, nothing is known.
create or replace function tacet.authorize_device(user_id tacet.user_id, device_token text, auth_status text)
returns void
language sql volatile
as $$
  select tacet.note_device_permission(
    authorize_device.user_id, authorize_device.device_token, authorize_device.auth_status = 'denied', null,
    clock_timestamp())
  where authorize_device.auth_status in ('authorized', 'provisional', 'denied')
$$;

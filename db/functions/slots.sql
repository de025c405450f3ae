-- Slots of users: enrolment, changes of zone, choices.
--
-- Everything that writes slots or rows of one user on purpose takes the user's lock, tacet.lock_slots. Batches of many users
-- insert rows with "on conflict do nothing", and change only rows under their claim.

set check_function_bodies = off;

-- Serialises changes of one user's slots.
create or replace function tacet.lock_slots(user_id tacet.user_id)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select pg_advisory_xact_lock(hashtextextended('slots ' || lock_slots.user_id, 1952539493))
$$;

-- What a slot campaign knows of some users: the zone, null for a user outside of its audience, and the material. A user's zone is
-- the audience's, else that of the newest device, else UTC.
create or replace function tacet.slot_situations(campaign text, user_ids tacet.user_id[])
returns table (user_id tacet.user_id, time_zone text, material jsonb)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  found_campaign tacet.campaigns;
begin
  select c.* into found_campaign from tacet.campaigns c where c.name = slot_situations.campaign and c.is_active;
  if not found then
    return;
  end if;
  return query execute format(
    $query$
      select u.user_id, z.time_zone, case when z.time_zone is not null then %3$s%2$s(u.user_id, $2) end
      from (select distinct n.user_id from unnest($1) as n (user_id)) u
      left join lateral (
        select coalesce(
          tacet.known_zone(left(a.time_zone, 65)), tacet.user_time_zone(u.user_id), 'UTC') as time_zone
        from (%1$s) a
        where a.refusal is null
        limit 1
      ) z on true
    $query$,
    tacet.audience_query(found_campaign.audience, '$2', 'u.user_id'), found_campaign.material::regproc,
    case
      when tacet.is_localised(found_campaign.definition)
      then 'jsonb_build_object(''locale'', tacet.user_locale(u.user_id)) || '
      else ''
    end)
  using slot_situations.user_ids, clock_timestamp();
end
$$;

-- Gives users of a campaign's audience its slots who have none in it, and moves slots of users whose zone has changed; where the
-- audience says each user's slots, also replaces those that have changed. At most users_max of each. Returns how many. default_slots:
-- [{"slot": "0800", "phase": "morning", "weekdays": [1, 2]}, ...]. lead_us: how long before it is due a row may be rendered.
--
-- As in tacet.campaign_eligible, sequential scans are the best plan for a whole audience.
create or replace function tacet.enrol_slots(
  campaign text, default_slots jsonb, only_user tacet.user_id, users_max bigint, lead_us bigint
)
returns table (enrolled bigint, moved bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = on
as $$
declare
  found_campaign tacet.campaigns;
begin
  select c.* into found_campaign from tacet.campaigns c where c.name = enrol_slots.campaign and c.is_active;
  if not found then
    return query select 0::bigint, 0::bigint;
    return;
  end if;
  return query execute format(
    $query$
      with audience as materialized (
        select a.*
        from (
          select
            x.user_id, s.time_zone as slot_zone,
            -- Null where one of them is not there.
            (x.normal_slots <> s.slots) is true as is_changed,
            coalesce(x.normal_slots, $2) as slots,
            coalesce(tacet.known_zone(left(x.time_zone, 65)), tacet.user_time_zone(x.user_id), 'UTC') as time_zone
          from (select a.*, tacet.normal_slots(a.slots) as normal_slots from (%s) a offset 0) x
          left join lateral (%s) s on true
          where x.refusal is null and (x.slots is null or x.normal_slots is not null)
            and (s.time_zone is distinct from x.time_zone or x.time_zone is null or x.slots is not null)
          offset 0
        ) a
        where a.slot_zone is distinct from a.time_zone or a.is_changed
        limit $4
      ), entered as (
        insert into tacet.slots (
          next_fire_at, fire_date, available_at, user_id, campaign, slot, phase, time_zone, weekdays
        )
        select
          f.fire_at, f.fire_date, f.fire_at - $5 * interval '1 microsecond', a.user_id, $1, d.slot, d.phase, a.time_zone,
          coalesce(d.weekdays, '{1,2,3,4,5,6,7}')
        from audience a
        cross join jsonb_to_recordset(a.slots) as d (slot text, phase text, weekdays smallint[])
        left join lateral tacet.next_fire(
          d.slot, a.time_zone, clock_timestamp(), coalesce(d.weekdays, '{1,2,3,4,5,6,7}')
        ) f on true
        where a.slot_zone is null
        on conflict do nothing
        returning user_id
      ), moved as materialized (
        select
          a.user_id,
          case
            when a.is_changed then tacet.replace_slots($1, a.user_id, a.slots, a.time_zone, $5)
            else tacet.move_slots($1, a.user_id, a.time_zone, $5)
          end as slots
        from audience a
        where a.slot_zone is not null
      )
      select (select count(distinct e.user_id) from entered e), (select count(*) from moved m where m.slots > 0)
    $query$,
    tacet.audience_query(found_campaign.audience, 'clock_timestamp()', '$3'),
    case
      -- Slots that the user has chosen are not compared.
      when tacet.audience_says(found_campaign.audience, 'slots') then
        $own$
          select
            min(s.time_zone) as time_zone,
            case when not bool_or(s.is_chosen) then
              jsonb_agg(jsonb_build_object('slot', s.slot, 'phase', s.phase, 'weekdays', to_jsonb(s.weekdays)) order by s.slot)
            end as slots
          from tacet.slots s
          where s.user_id = x.user_id and s.campaign = $1
        $own$
      else
        $own$
          select s.time_zone, null::jsonb as slots
          from tacet.slots s
          where s.user_id = x.user_id and s.campaign = $1
          limit 1
        $own$
    end)
  using enrol_slots.campaign, enrol_slots.default_slots, enrol_slots.only_user, enrol_slots.users_max, enrol_slots.lead_us;
end
$$;

-- The slots that an audience says of a user, in the form in which they are compared: by time, each time once, with all members, and
-- weekdays in order. Null for a list that cannot be read as a whole, or has none or more than 24 slots.
create or replace function tacet.normal_slots(slots jsonb)
returns jsonb
language sql immutable strict
as $$
  select case when bool_and(d.is_readable) then jsonb_agg(d.entry order by d.slot) end
  from (
    select distinct on (e.slot)
      e.slot,
      (
        e.slot ~ '^([01][0-9]|2[0-3])[0-5][0-9]$' and coalesce(e.phase ~ '^[a-z][a-z0-9_]{0,31}$', true)
          and e.weekdays <@ '[1, 2, 3, 4, 5, 6, 7]' and e.weekdays <> '[]'
      ) is true as is_readable,
      jsonb_build_object(
        'slot', e.slot, 'phase', e.phase,
        'weekdays', (select jsonb_agg(n.day) from generate_series(1, 7) as n (day) where e.weekdays @> to_jsonb(n.day))) as entry
    from (
      select
        l.place, l.entry ->> 'slot' as slot, l.entry ->> 'phase' as phase,
        case jsonb_typeof(coalesce(l.entry -> 'weekdays', 'null'))
          when 'array' then l.entry -> 'weekdays'
          when 'null' then '[1, 2, 3, 4, 5, 6, 7]'
        end as weekdays
      from jsonb_array_elements(
        case when jsonb_typeof(normal_slots.slots) = 'array' then
          case when jsonb_array_length(normal_slots.slots) <= 24 then normal_slots.slots end
        end
      ) with ordinality as l (entry, place)
    ) e
    order by e.slot, e.place
  ) d
$$;

-- Replaces a user's slots by what the audience says of them now, in the form of tacet.normal_slots. Returns the number of slots.
create or replace function tacet.replace_slots(
  campaign text, user_id tacet.user_id, wanted jsonb, zone text, lead_us bigint
)
returns int
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  perform tacet.choose_slots(
    replace_slots.campaign, replace_slots.user_id, true,
    (select jsonb_agg(d || '{"is_enabled": true}') from jsonb_array_elements(wanted) as d),
    zone, lead_us, false);
  return jsonb_array_length(wanted);
end
$$;

-- Moves a user's slots and the rows that were not pushed to another zone. Returns the number of slots.
create or replace function tacet.move_slots(campaign text, user_id tacet.user_id, zone text, lead_us bigint)
returns int
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  moved int;
begin
  perform tacet.lock_slots(move_slots.user_id);
  update tacet.slots s
  set
    time_zone = zone, next_fire_at = f.fire_at, fire_date = f.fire_date,
    available_at = f.fire_at - lead_us * interval '1 microsecond'
  from tacet.slots x
  left join lateral tacet.next_fire(x.slot, zone, clock_timestamp(), x.weekdays) f on x.is_on and x.is_enabled
  where x.user_id = move_slots.user_id and x.campaign = move_slots.campaign and x.time_zone <> zone
    and s.user_id = x.user_id and s.campaign = x.campaign and s.slot = x.slot;
  get diagnostics moved = row_count;
  if moved = 0 then
    return 0;
  end if;
  update tacet.notif_deliveries d
  set
    time_zone = zone, fire_at = tacet.civil_instant(d.fire_date + tacet.slot_time(d.slot), zone),
    available_at = tacet.civil_instant(d.fire_date + tacet.slot_time(d.slot), zone), changed_at = clock_timestamp(),
    status = 'scheduled', armed_by = '{}'
  where d.user_id = move_slots.user_id and d.campaign = move_slots.campaign and d.status in ('scheduled', 'armed')
    and d.time_zone <> zone;
  if found then
    perform tacet.tell_devices(move_slots.user_id);
  end if;
  return moved;
end
$$;

-- Replaces a user's slots in a campaign by what the user has chosen. chosen: as default_slots of tacet.enrol_slots, with is_enabled.
-- What was to come of slots that are off or gone is cancelled. is_chosen: false where they follow the audience.
create or replace function tacet.choose_slots(
  campaign text, user_id tacet.user_id, is_on boolean, chosen jsonb, zone text, lead_us bigint, is_chosen boolean default true
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('synchronous_commit', 'on', true);
  perform tacet.lock_slots(choose_slots.user_id);
  delete from tacet.slots s
  where s.user_id = choose_slots.user_id and s.campaign = choose_slots.campaign
    and s.slot not in (select d.slot from jsonb_to_recordset(chosen) as d (slot text));
  insert into tacet.slots as s (
    next_fire_at, fire_date, available_at, user_id, is_on, is_enabled, is_chosen, campaign, slot, phase, time_zone, weekdays
  )
  select
    f.fire_at, f.fire_date, f.fire_at - lead_us * interval '1 microsecond', choose_slots.user_id, choose_slots.is_on,
    d.is_enabled, choose_slots.is_chosen, choose_slots.campaign, d.slot, d.phase, zone, w.weekdays
  from jsonb_to_recordset(chosen) as d (slot text, phase text, is_enabled boolean, weekdays smallint[])
  cross join lateral (select coalesce(d.weekdays, '{1,2,3,4,5,6,7}') as weekdays) w
  left join lateral tacet.next_fire(d.slot, zone, clock_timestamp(), w.weekdays) f
    on choose_slots.is_on and d.is_enabled
  on conflict on constraint slots_pkey do update
  set
    next_fire_at = excluded.next_fire_at, fire_date = excluded.fire_date, available_at = excluded.available_at,
    is_on = excluded.is_on, is_enabled = excluded.is_enabled, is_chosen = excluded.is_chosen, phase = excluded.phase, time_zone = excluded.time_zone,
    weekdays = excluded.weekdays;
  update tacet.notif_deliveries d
  set status = 'cancelled', reason = 'switched_off', changed_at = clock_timestamp(), armed_by = '{}'
  where d.user_id = choose_slots.user_id and d.campaign = choose_slots.campaign and d.status in ('scheduled', 'armed')
    and not exists (
      select
      from tacet.slots s
      where s.user_id = d.user_id and s.campaign = d.campaign and s.slot = d.slot and s.is_on and s.is_enabled
        and extract(isodow from d.fire_date)::smallint = any (s.weekdays) and s.phase is not distinct from d.phase);
  perform tacet.tell_devices(choose_slots.user_id);
end
$$;

-- Asks a user's devices, by a push in the background, to read the schedule again: at most once in 15 minutes. What comes sooner is
-- told at the end of them.
create or replace function tacet.tell_devices(user_id tacet.user_id)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  told_at timestamptz;
  notice uuid := gen_random_uuid();
begin
  insert into tacet.schedules as n (told_at, user_id)
  values (clock_timestamp(), tell_devices.user_id)
  on conflict on constraint schedules_pkey do update
  set told_at = greatest(clock_timestamp(), n.told_at + interval '15 minutes')
  where n.told_at is null or n.told_at <= clock_timestamp()
  returning n.told_at into told_at;
  if not found then
    return;
  end if;
  insert into tacet.pushes (id, user_id, kind, title, body, presentation, send_at)
  values (
    notice, tell_devices.user_id, 'schedule_changed', 'schedule_changed', '', '{"channel": "fetch"}', told_at
  );
  insert into tacet.inbox (subject_id, kind, conversation_id, enqueued_at, available_at)
  values (tacet.subject_of(notice), 'schedule_changed', tacet.turn_of(tell_devices.user_id), clock_timestamp(), told_at);
  perform tacet.wake(null);
end
$$;

reset check_function_bodies;

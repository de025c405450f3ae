-- Slots of users: enrolment, changes of zone, choices.
--
-- Everything that writes slots or occasions of one user on purpose takes the user's lock, tacet.lock_slots, and whatever changes what a slot
-- is raises its version. Who writes occasions names the version that was read, and batches of many users also their claim: what was read of a
-- slot that has changed since is not written.

-- Serialises changes of one user's slots.
create or replace function tacet.lock_slots(user_id tacet.user_id)
returns void
language sql volatile
as $$
  select pg_advisory_xact_lock(tacet.lock_of('slots ' || lock_slots.user_id))
$$;

-- Brings the slots of some users in line with the campaign's audience: gives them to users who have none, moves those of users whose
-- zone has changed, replaces those that the audience says otherwise, and takes them from users who are not in it. Returns how many
-- users were given slots, and how many had them changed. default_slots: [{"slot": "0800", "phase": "morning", "weekdays": [1, 2]}, ...].
-- lead_us: how long before it is due a row may be rendered.
create or replace function tacet.follow_audience(
  campaign text, default_slots jsonb, user_ids tacet.user_id[], lead_us bigint
)
returns table (enrolled bigint, moved bigint)
language plpgsql volatile
as $$
#variable_conflict use_variable
declare
  found_campaign tacet.campaigns;
begin
  select c.* into found_campaign from tacet.campaigns c where c.name = campaign and c.is_active;
  if not found then
    return query select 0::bigint, 0::bigint;
    return;
  end if;
  perform tacet.lock_slots(user_ids[1]) where cardinality(user_ids) = 1;
  return query execute format(
    $query$
      with said as materialized (
        select
          u.user_id, s.time_zone as slot_zone, s.is_resting, s.is_left, coalesce(a.slots, $2) as slots,
          coalesce(a.slots, $5) <> s.slots as is_changed,
          case when a.is_in then
            coalesce(tacet.known_zone(left(a.time_zone, 65)), tacet.user_time_zone(u.user_id), 'UTC')
          end as time_zone
        from (select distinct n.user_id from unnest($3) as n (user_id)) u
        left join lateral (
          select a.time_zone, n.slots, a.slots is null or n.slots is not null as is_in
          from (select * from (%s) a where a.user_id = u.user_id and a.refusal is null limit 1) a
          cross join lateral (select tacet.normal_slots(a.slots) as slots offset 0) n
        ) a on true
        left join lateral (
          -- Slots that the user has chosen are not compared, and those of the definition neither.
          select
            min(s.time_zone) as time_zone, bool_or(s.is_on and s.is_enabled and s.next_fire_at is null) as is_resting,
            bool_and(s.is_chosen and s.next_fire_at is null) as is_left,
            case when $7 and not bool_or(s.is_chosen) then
              jsonb_agg(jsonb_build_object('slot', s.slot, 'phase', s.phase, 'weekdays', to_jsonb(s.weekdays)) order by s.slot)
            end as slots
          from tacet.slots s
          where s.user_id = u.user_id and s.campaign = $1
        ) s on true
      ), wanted as materialized (
        select a.user_id, a.time_zone, d.slot, d.phase, coalesce(d.weekdays, '{1,2,3,4,5,6,7}') as weekdays
        from said a
        cross join jsonb_to_recordset(a.slots) as d (slot text, phase text, weekdays smallint[])
        where a.slot_zone is null and a.time_zone is not null
      ), fires as materialized (
        -- Of many users with the same slots.
        select n.slot, n.time_zone, n.weekdays, f.fire_at, f.fire_date
        from (select distinct w.slot, w.time_zone, w.weekdays from wanted w) n
        left join lateral tacet.next_fire(n.slot, n.time_zone, clock_timestamp(), n.weekdays) f on true
      ), entered as (
        insert into tacet.slots (
          next_fire_at, fire_date, available_at, user_id, campaign, slot, phase, time_zone, weekdays
        )
        select
          f.fire_at, f.fire_date, f.fire_at - $4 * interval '1 microsecond', w.user_id, $1, w.slot, w.phase, w.time_zone, w.weekdays
        from wanted w
        join fires f on f.slot = w.slot and f.time_zone = w.time_zone and f.weekdays = w.weekdays
        on conflict do nothing
        returning user_id
      ), changed as materialized (
        select
          tacet.change_slots(
            $1, a.user_id, a.time_zone, $4, case when a.is_changed then a.slots end, $2, tacet.seen_slots($1, a.user_id)) as slots
        from said a
        where a.slot_zone is not null
          and case
            when a.time_zone is null then not a.is_left
            else a.is_changed is true or a.is_resting or a.time_zone <> a.slot_zone
          end
      )
      select (select count(distinct e.user_id) from entered e), (select count(*) from changed m where m.slots > 0)
    $query$,
    tacet.audience_query(found_campaign.audience, '$6', 'u.user_id'))
  using
    campaign, default_slots, user_ids, lead_us, tacet.normal_slots(default_slots), clock_timestamp(),
    tacet.audience_says(found_campaign.audience, 'slots');
end
$$;

-- What a user's slots in a campaign are, for telling whether they have changed.
create or replace function tacet.seen_slots(campaign text, user_id tacet.user_id)
returns text
language sql stable
as $$
  select string_agg(concat_ws(' ', s.slot, s.version, s.time_zone, s.is_chosen), ',' order by s.slot)
  from tacet.slots s
  where s.user_id = seen_slots.user_id and s.campaign = seen_slots.campaign
$$;

-- A page of users, in the order of their ids, whom tacet.follow_audience has to be asked about: with are_new those of the audience who have
-- no slots, else those who have slots. after_user: the last one of the page before; null for the first page.
--
-- A whole audience is asked for its users' ids alone, so that the planner drops what else it says, and the moment is a parameter, with
-- which it looks into the function. As in tacet.campaign_page, sequential scans are the best plan.
create or replace function tacet.slot_users(campaign text, are_new boolean, after_user tacet.user_id, users_max bigint)
returns tacet.user_id[]
language plpgsql stable
set enable_seqscan = on
as $$
#variable_conflict use_variable
declare
  found_audience text;
  users tacet.user_id[];
begin
  if not are_new then
    -- One step down the index for each user, however many slots each has.
    with recursive page as (
      select coalesce(after_user, tacet.lowest_user_id()) as user_id, 0 as place
      union all
      select n.user_id, p.place + 1
      from page p
      cross join lateral (
        select s.user_id from tacet.slots s
        where s.campaign = campaign and s.user_id > p.user_id
        order by s.user_id
        limit 1
      ) n
      where p.place < users_max
    )
    select array_agg(p.user_id order by p.place) into users from page p where p.place > 0;
    return coalesce(users, '{}');
  end if;
  select c.audience into found_audience from tacet.campaigns c where c.name = campaign and c.is_active;
  if found then
    execute format(
      $query$
        select array_agg(p.user_id order by p.user_id)
        from (
          select a.user_id
          from (select a.user_id from (%s) a where $2 is null or a.user_id > $2 offset 0) a
          where not exists (select from tacet.slots s where s.user_id = a.user_id and s.campaign = $1)
          order by a.user_id
          limit $3
        ) p
      $query$,
      tacet.audience_query(found_audience, '$4', 'null'))
    into users
    using campaign, after_user, users_max, clock_timestamp();
  end if;
  return coalesce(users, '{}');
end
$$;

-- Follows the audience for one page of users. Returns also the page's last user; null when it was the last page. A page of new users reads
-- the whole audience, which may take longer than all the rest, so it has 5,000 users at least.
create or replace function tacet.enrol_slots(
  campaign text, default_slots jsonb, are_new boolean, after_user tacet.user_id, users_max bigint, lead_us bigint
)
returns table (enrolled bigint, moved bigint, last_user tacet.user_id)
language plpgsql volatile
as $$
declare
  page_max bigint := case when are_new then greatest(users_max, 5000) else users_max end;
  users tacet.user_id[] := tacet.slot_users(campaign, are_new, after_user, page_max);
begin
  last_user := case when cardinality(users) = page_max then users[page_max] end;
  -- Too many users to take the lock of each. A choice of slots that is not committed yet cannot be seen.
  perform pg_advisory_xact_lock(tacet.lock_of('slots of ' || campaign)) where are_new;
  select f.enrolled, f.moved into enrolled, moved from tacet.follow_audience(campaign, default_slots, users, lead_us) f;
  return next;
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
        'weekdays',
        case
          when e.weekdays = '[1, 2, 3, 4, 5, 6, 7]' then e.weekdays
          else (select jsonb_agg(n.day) from generate_series(1, 7) as n (day) where e.weekdays @> to_jsonb(n.day))
        end) as entry
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

-- Does with a user's slots what the audience says: replaces them by those that are wanted, in the form of tacet.normal_slots, else moves
-- them and the rows that were not pushed to the zone, and takes up those of a user who has left the audience and is back. zone: null for a
-- user who is not in the audience any more, whose slots are taken; what the user has chosen stays, and rests until the user is back. Where
-- they are not what was seen any more, the user has chosen others or moved, and the audience is asked once more, now under the user's lock.
-- Returns the number of slots.
create or replace function tacet.change_slots(
  campaign text, user_id tacet.user_id, zone text, lead_us bigint, wanted jsonb default null, default_slots jsonb default null,
  seen text default null
)
returns int
language plpgsql volatile
as $$
#variable_conflict use_variable
declare
  taken int;
  moved int;
begin
  perform tacet.lock_slots(user_id);
  if seen is not null and tacet.seen_slots(campaign, user_id) is distinct from seen then
    return (select f.enrolled + f.moved from tacet.follow_audience(campaign, default_slots, array[user_id], lead_us) f);
  end if;
  if zone is not null and wanted is not null then
    perform tacet.choose_slots(
      campaign, user_id, true,
      (select jsonb_agg(d || '{"is_enabled": true}') from jsonb_array_elements(wanted) as d), zone, lead_us, false);
    return jsonb_array_length(wanted);
  end if;
  delete from tacet.slots s
  where zone is null and s.user_id = user_id and s.campaign = campaign and not s.is_chosen;
  get diagnostics taken = row_count;
  update tacet.slots s
  set
    version = s.version + 1, time_zone = coalesce(zone, s.time_zone), next_fire_at = f.fire_at, fire_date = f.fire_date,
    available_at = f.fire_at - lead_us * interval '1 microsecond'
  from tacet.slots x
  left join lateral tacet.next_fire(x.slot, zone, clock_timestamp(), x.weekdays) f on x.is_on and x.is_enabled
  where x.user_id = user_id and x.campaign = campaign
    and (x.time_zone <> zone or (x.next_fire_at is null) <> (f.fire_at is null))
    and s.user_id = x.user_id and s.campaign = x.campaign and s.slot = x.slot;
  get diagnostics moved = row_count;
  if (zone is null or moved > 0)
    and tacet.settle_occasions(campaign, user_id, case when zone is null then 'not_in_audience' else 'switched_off' end) > 0
  then
    perform tacet.tell_devices(user_id);
  end if;
  return taken + moved;
end
$$;

-- A user's slot that says something on a day. Returns rows, and has no settings of its own, so that it becomes a part of the statements
-- that ask for many users.
create or replace function tacet.slot_of_day(campaign text, user_id tacet.user_id, slot text, phase text, day date)
returns setof tacet.slots
language sql stable rows 1
as $$
  select s.*
  from tacet.slots s
  where s.user_id = slot_of_day.user_id and s.campaign = slot_of_day.campaign and s.slot = slot_of_day.slot
    and s.is_on and s.is_enabled and s.next_fire_at is not null and s.phase is not distinct from slot_of_day.phase
    and extract(isodow from slot_of_day.day)::smallint = any (s.weekdays)
  limit 1
$$;

-- Brings what is to come of a user's slots in line with them: cancels rows of those that are off or gone, or whose campaign is off,
-- with this reason, their pushes that wait, and those that the user has put off; and moves rows to their slots' zone. Returns the
-- number of rows.
create or replace function tacet.settle_occasions(campaign text, user_id tacet.user_id, reason text)
returns int
language plpgsql volatile
as $$
#variable_conflict use_variable
declare
  is_active boolean := exists (select from tacet.campaigns c where c.name = campaign and c.is_active);
  cancelled int;
  moved int;
begin
  update tacet.occasions d
  set
    status = tacet.occasion_after(tacet.occasion_state(d), 'off'), reason = reason, changed_at = clock_timestamp(), armed_by = '{}'
  where d.user_id = user_id and d.campaign = campaign and tacet.occasion_after(tacet.occasion_state(d), 'off') is not null
    and not (is_active and exists (select from tacet.slot_of_day(d.campaign, d.user_id, d.slot, d.phase, d.fire_date)));
  get diagnostics cancelled = row_count;
  -- After that, which waits for a commit at the same time.
  perform
    case when d.status in ('sent', 'delivered') then tacet.recall_push(d.push_id, d.user_id) end,
    case when d.snoozes > 0 then tacet.cancel_pushes(tacet.snooze_key(d)) end
  from tacet.occasions d
  where d.user_id = user_id and d.campaign = campaign
    and (d.status in ('sent', 'delivered') or d.snoozes > 0) and d.fire_at > clock_timestamp() - interval '3 days'
    and not (is_active and exists (select from tacet.slot_of_day(d.campaign, d.user_id, d.slot, d.phase, d.fire_date)));
  -- Where the clocks are the same, devices go on showing at the right time what they have armed.
  update tacet.occasions d
  set time_zone = s.time_zone
  from tacet.slots s
  where s.user_id = user_id and s.campaign = campaign
    and d.user_id = s.user_id and d.campaign = s.campaign and d.slot = s.slot and d.time_zone <> s.time_zone
    and tacet.occasion_after(tacet.occasion_state(d), 'moved') is not null
    and d.fire_at = tacet.civil_instant(d.fire_date + tacet.slot_time(d.slot), s.time_zone);
  update tacet.occasions d
  set
    time_zone = s.time_zone, fire_at = tacet.civil_instant(d.fire_date + tacet.slot_time(d.slot), s.time_zone),
    available_at = tacet.civil_instant(d.fire_date + tacet.slot_time(d.slot), s.time_zone), rendered_at = clock_timestamp(),
    changed_at = clock_timestamp(),
    status = tacet.occasion_status(tacet.occasion_after(tacet.occasion_state(d), 'moved')), armed_by = '{}'
  from tacet.slots s
  where s.user_id = user_id and s.campaign = campaign
    and d.user_id = s.user_id and d.campaign = s.campaign and d.slot = s.slot and d.time_zone <> s.time_zone
    and tacet.occasion_after(tacet.occasion_state(d), 'moved') is not null;
  get diagnostics moved = row_count;
  return cancelled + moved;
end
$$;

-- Replaces a user's slots in a campaign by what the user has chosen. chosen: as default_slots of tacet.follow_audience, with
-- is_enabled. zone: of a user without slots in the campaign. What was to come of slots that are off or gone is cancelled. is_chosen: false
-- where they follow the audience. A slot that stays as it is keeps its next row.
create or replace function tacet.choose_slots(
  campaign text, user_id tacet.user_id, is_on boolean, chosen jsonb, zone text, lead_us bigint, is_chosen boolean default true
)
returns void
language plpgsql volatile
as $$
#variable_conflict use_variable
declare
  -- They may have moved since the caller read them. What follows the audience has its zone from there.
  own_zone text;
begin
  perform set_config('synchronous_commit', 'on', true);
  perform pg_advisory_xact_lock_shared(tacet.lock_of('slots of ' || campaign)) where is_chosen;
  perform tacet.lock_slots(user_id);
  if is_chosen then
    select s.time_zone into own_zone from tacet.slots s where s.user_id = user_id and s.campaign = campaign limit 1;
  end if;
  own_zone := coalesce(own_zone, zone);
  delete from tacet.slots s
  where s.user_id = user_id and s.campaign = campaign
    and s.slot not in (select d.slot from jsonb_to_recordset(chosen) as d (slot text));
  insert into tacet.slots as s (
    next_fire_at, fire_date, available_at, user_id, is_on, is_enabled, is_chosen, campaign, slot, phase, time_zone, weekdays
  )
  select
    f.fire_at, f.fire_date, f.fire_at - lead_us * interval '1 microsecond', user_id, is_on, d.is_enabled, is_chosen, campaign,
    d.slot, d.phase, own_zone, w.weekdays
  from jsonb_to_recordset(chosen) as d (slot text, phase text, is_enabled boolean, weekdays smallint[])
  cross join lateral (select coalesce(d.weekdays, '{1,2,3,4,5,6,7}') as weekdays) w
  left join lateral tacet.next_fire(d.slot, own_zone, clock_timestamp(), w.weekdays) f on is_on and d.is_enabled
  on conflict on constraint slots_pkey do update
  set
    version = s.version + 1, next_fire_at = excluded.next_fire_at, fire_date = excluded.fire_date,
    available_at = excluded.available_at, is_on = excluded.is_on, is_enabled = excluded.is_enabled,
    is_chosen = excluded.is_chosen, phase = excluded.phase, time_zone = excluded.time_zone, weekdays = excluded.weekdays
  where (s.is_on, s.is_enabled, s.is_chosen, s.phase, s.time_zone, s.weekdays, s.next_fire_at is null)
    is distinct from (
      excluded.is_on, excluded.is_enabled, excluded.is_chosen, excluded.phase, excluded.time_zone, excluded.weekdays,
      excluded.next_fire_at is null);
  perform tacet.settle_occasions(campaign, user_id, 'switched_off');
  perform tacet.tell_devices(user_id);
end
$$;

-- Asks a user's devices, by a push in the background, to read the schedule again: at most once in 15 minutes. What comes sooner is
-- told at the end of them.
create or replace function tacet.tell_devices(user_id tacet.user_id)
returns void
language plpgsql volatile
as $$
#variable_conflict use_variable
declare
  told_at timestamptz;
  notice uuid := gen_random_uuid();
begin
  insert into tacet.schedules as n (told_at, user_id)
  values (clock_timestamp(), user_id)
  on conflict on constraint schedules_pkey do update
  set told_at = greatest(clock_timestamp(), n.told_at + interval '15 minutes')
  where n.told_at is null or n.told_at <= clock_timestamp()
  returning n.told_at into told_at;
  if not found then
    return;
  end if;
  insert into tacet.pushes (id, user_id, kind, title, body, presentation, send_at)
  values (notice, user_id, 'schedule_changed', 'schedule_changed', '', '{"channel": "fetch"}', told_at);
  insert into tacet.inbox (subject_id, kind, conversation_id, enqueued_at, available_at)
  values (tacet.subject_of(notice), 'schedule_changed', tacet.turn_of(user_id), clock_timestamp(), told_at);
  perform tacet.wake(null);
end
$$;

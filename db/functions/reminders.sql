-- The campaigns morning, workout, meal and hydration: who wants them and when, and what their texts are made of.
--
-- What is absent from a user's preferences is off. What cannot be read is silence, with the reason preferences_unreadable.
--
-- What is computed for a user is named more than once behind, and offset 0 keeps it at once.

-- A time of the day in preferences, such as "08:00", as a slot; the standard one without a wish, null for an unreadable one.
create or replace function tacet.preferred_slot(wish jsonb, standard text)
returns text
language sql immutable
as $$
  select case
    when wish is null or wish = 'null' then standard
    when wish #>> '{}' ~ '^([01][0-9]|2[0-3]):[0-5][0-9]$' then replace(wish #>> '{}', ':', '')
  end
$$;

-- Users who have said something else than no about a reminder, by the name of its switch. preferences: null for those that cannot be
-- read: no object, larger than 16 KiB, or with a switch that is neither true nor false.
create or replace function tacet.wished_reminders(only_user tacet.user_id, switch text)
returns table (user_id tacet.user_id, time_zone text, preferences jsonb)
language sql stable
as $$
  select w.user_id, w.time_zone, case when w.preferences -> switch = 'true' then w.preferences end
  from (
    select
      p.user_id, p.time_zone, p.reminders,
      case when jsonb_typeof(p.reminders) = 'object' and pg_column_size(p.reminders) <= 16384 then p.reminders end as preferences
    from tacet.engagement_preferences(wished_reminders.only_user) p
  ) w
  where case when w.preferences is null then w.reminders <> 'null' else w.preferences -> switch not in ('false', 'null') end
$$;

create or replace function tacet.morning_audience(moment timestamptz, only_user tacet.user_id)
returns table (user_id tacet.user_id, time_zone text, gap_days int, slots jsonb, refusal text)
language sql stable
as $$
  select
    w.user_id, w.time_zone, 1, jsonb_build_array(jsonb_build_object('slot', w.slot)),
    case when w.slot is null then 'preferences_unreadable' end
  from (
    select
      p.user_id, p.time_zone,
      case when p.preferences is not null then tacet.preferred_slot(p.preferences -> 'morning_time', '0800') end as slot
    from tacet.wished_reminders(morning_audience.only_user, 'morning_greeting') p
    offset 0
  ) w
$$;

create or replace function tacet.workout_audience(moment timestamptz, only_user tacet.user_id)
returns table (user_id tacet.user_id, time_zone text, gap_days int, slots jsonb, refusal text)
language sql stable
as $$
  select w.user_id, w.time_zone, 1, w.slots, case when w.slots is null then 'preferences_unreadable' end
  from (
    select p.user_id, p.time_zone, tacet.workout_slots(p.preferences -> 'workout_schedule') as slots
    from tacet.wished_reminders(workout_audience.only_user, 'workout_reminders') p
    offset 0
  ) w
$$;

create or replace function tacet.meal_audience(moment timestamptz, only_user tacet.user_id)
returns table (user_id tacet.user_id, time_zone text, gap_days int, refusal text)
language sql stable
as $$
  select p.user_id, p.time_zone, 1, case when p.preferences is null then 'preferences_unreadable' end
  from tacet.wished_reminders(meal_audience.only_user, 'meal_reminders') p
$$;

create or replace function tacet.hydration_audience(moment timestamptz, only_user tacet.user_id)
returns table (user_id tacet.user_id, time_zone text, gap_days int, slots jsonb, refusal text)
language sql stable
as $$
  select w.user_id, w.time_zone, 1, w.slots, case when w.slots is null then 'preferences_unreadable' end
  from (
    select
      p.user_id, p.time_zone,
      tacet.hydration_slots(
        p.preferences -> 'hydration_frequency', tacet.preferred_slot(p.preferences -> 'waking_start', '0800'),
        tacet.preferred_slot(p.preferences -> 'waking_end', '2200')) as slots
    from tacet.wished_reminders(hydration_audience.only_user, 'hydration_reminders') p
    offset 0
  ) w
$$;

-- The workouts of a schedule, of at most 24 entries: [{"type": "Run", "weekdays": [1, 3], "time": "07:30"}]. No row for one that
-- cannot be read as a whole.
create or replace function tacet.workouts(schedule jsonb)
returns table (place bigint, slot text, weekday int, type text)
language sql immutable
as $$
  with entries as materialized (
    select
      e.place, tacet.preferred_slot(e.entry -> 'time', null) as slot, e.entry ->> 'type' as type,
      case when jsonb_typeof(e.entry -> 'weekdays') = 'array' and jsonb_array_length(e.entry -> 'weekdays') between 1 and 7
        then e.entry -> 'weekdays' else '[null]'
      end as weekdays
    from jsonb_array_elements(
      case when jsonb_typeof(schedule) = 'array' then case when jsonb_array_length(schedule) <= 24 then schedule end end
    ) with ordinality as e (entry, place)
  ), days as materialized (
    select e.place, e.slot, e.type, case when d.day ~ '^[1-7]$' then d.day::int end as weekday
    from entries e
    cross join lateral jsonb_array_elements_text(e.weekdays) as d (day)
  )
  select d.place, d.slot, d.weekday, d.type
  from days d
  where not exists (select from days b where b.slot is null or b.weekday is null)
$$;

-- The slots of a workout schedule; null for one that cannot be read or is empty.
create or replace function tacet.workout_slots(schedule jsonb)
returns jsonb
language sql immutable
as $$
  select jsonb_agg(jsonb_build_object('slot', s.slot, 'weekdays', s.weekdays) order by s.slot)
  from (
    select w.slot, jsonb_agg(distinct w.weekday) as weekdays from tacet.workouts(workout_slots.schedule) w group by w.slot
  ) s
$$;

-- From the first waking minute on, each interval, before the last; null for an unknown frequency or times that cannot be read. Three a
-- day are a third of the waking time apart. The day of somebody who sleeps by day goes on over midnight.
create or replace function tacet.hydration_slots(frequency jsonb, first_slot text, end_slot text)
returns jsonb
language sql immutable
as $$
  select jsonb_agg(jsonb_build_object('slot', to_char(tacet.slot_time(first_slot) + n.minutes * interval '1 minute', 'HH24MI')))
  from (
    select
      d.waking,
      case frequency when '"hourly"' then 60 when '"bi_hourly"' then 120 when '"tri_daily"' then greatest((d.waking + 2) / 3, 1) end as step
    from (
      select (extract(epoch from tacet.slot_time(end_slot) - tacet.slot_time(first_slot))::int / 60 + 1440) % 1440 as waking
    ) d
  ) w
  cross join lateral generate_series(0, w.waking - 1, w.step) as n (minutes)
$$;

-- What the host knows of a user, the name included; an empty object where its function fails, because a reminder needs none of it.
-- Of words that must be one of a few, an unknown one is left out, and times are read.
create or replace function tacet.known_facts(user_id tacet.user_id, moment timestamptz)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  facts jsonb := '{}';
begin
  facts := tacet.coaching_facts(known_facts.user_id, known_facts.moment);
  if jsonb_typeof(facts) is distinct from 'object' or pg_column_size(facts) > 16384 then
    facts := '{}';
  end if;
  facts := facts || jsonb_build_object(
    'motivational_style', coalesce(tacet.one_of(facts, 'motivational_style', '{challenging,supportive}'), 'encouraging'),
    'sleep_quality', tacet.one_of(facts, 'sleep_quality', '{poor,fair,good,excellent}'),
    'weather', tacet.one_of(facts, 'weather', '{sunny,cloudy,rainy,snowy}'),
    'streak', case when facts ->> 'streak' ~ '^[1-9][0-9]{0,5}$' then facts -> 'streak' end,
    'personality_traits', tacet.listed(facts -> 'personality_traits'),
    'favorite_foods', tacet.listed(facts -> 'favorite_foods'));
  if facts -> 'name' is null then
    facts := facts || jsonb_build_object('name', tacet.profile_name(known_facts.user_id));
  end if;
  return jsonb_strip_nulls(facts);
exception
  when others then
    raise warning 'tacet: what is known of a user cannot be read: % (%)', sqlerrm, sqlstate;
    return '{"motivational_style": "encouraging"}';
end
$$;

create or replace function tacet.one_of(facts jsonb, name text, words text[])
returns text
language sql immutable
as $$
  select case when facts ->> name = any (words) then facts ->> name end
$$;

-- The first eight texts of a list, with commas between them; null for something else.
create or replace function tacet.listed(list jsonb)
returns text
language sql immutable strict
as $$
  select string_agg(left(e.element #>> '{}', 80), ', ' order by e.place)
  from jsonb_array_elements(case when jsonb_typeof(list) = 'array' then list end) with ordinality as e (element, place)
  where jsonb_typeof(e.element) = 'string' and e.place <= 8
$$;

-- A moment among facts, as RFC 3339 has it; null for one that cannot be read.
create or replace function tacet.fact_time(facts jsonb, name text)
returns timestamptz
language plpgsql stable
as $$
begin
  return case when facts ->> name ~ '^\d{4}-\d\d-\d\d[T ]' then (facts ->> name)::timestamptz end;
exception
  when others then
    return null;
end
$$;

create or replace function tacet.morning_material(user_id tacet.user_id, moment timestamptz)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select f.facts || jsonb_build_object(
    'image_key',
    'morning_' || case when f.facts ->> 'weather' in ('sunny', 'cloudy', 'rainy') then f.facts ->> 'weather' else 'default' end)
  from (select tacet.known_facts(morning_material.user_id, morning_material.moment) offset 0) as f (facts)
$$;

-- slots: the type of each workout, by slot and weekday. skip: of a workout that was done within two hours.
create or replace function tacet.workout_material(user_id tacet.user_id, moment timestamptz)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_strip_nulls(
    f.facts || jsonb_build_object(
      'type', 'workout',
      'days_since', floor(extract(epoch from workout_material.moment - f.done_at) / 86400),
      'skip', case when f.done_at > workout_material.moment - interval '2 hours' then 'already_done' end,
      'slots', (
        select jsonb_object_agg(w.slot || '.' || w.weekday, jsonb_build_object('type', left(w.type, 80)))
        from (
          select distinct on (w.slot, w.weekday) w.*
          from tacet.wished_reminders(workout_material.user_id, 'workout_reminders') p
          cross join lateral tacet.workouts(p.preferences -> 'workout_schedule') w
          where w.type <> ''
          order by w.slot, w.weekday, w.place
        ) w
      )))
  from (
    select k.facts, tacet.fact_time(k.facts, 'last_workout_at') as done_at
    from (select tacet.known_facts(workout_material.user_id, workout_material.moment) offset 0) as k (facts)
    offset 0
  ) f
$$;

create or replace function tacet.meal_material(user_id tacet.user_id, moment timestamptz)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select f.facts || case
    when tacet.fact_time(f.facts, 'last_meal_at') > meal_material.moment - interval '2 hours' then '{"skip": "already_done"}'::jsonb
    else '{}'
  end
  from (select tacet.known_facts(meal_material.user_id, meal_material.moment) offset 0) as f (facts)
$$;

create or replace function tacet.hydration_material(user_id tacet.user_id, moment timestamptz)
returns jsonb
language sql immutable
as $$
  select '{}'::jsonb
$$;

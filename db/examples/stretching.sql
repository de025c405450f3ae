-- A sixth reminder, by SQL alone: stretching on weekdays, at the times that users choose. Applied after examples/engagement.sql.
--
-- Users switch it on with {"stretch_reminders": true, "stretch_times": ["10:30", "15:30"]} in their reminder preferences. Without times it
-- comes at half past ten. The model writes the body; the bodies below take turns where it fails.

-- Who wants it, and when. Times that cannot be read are silence.
create or replace function public.stretch_audience(moment timestamptz, only_user uuid)
returns table (user_id uuid, time_zone text, gap_days int, slots jsonb, refusal text)
language sql stable
as $$
  select w.user_id, w.time_zone, 1, w.slots, case when w.slots is null then 'preferences_unreadable' end
  from (
    select
      p.user_id, p.time_zone,
      (
        select case when p.preferences is not null and bool_and(t.slot is not null) and count(*) <= 8 then
          jsonb_agg(distinct jsonb_build_object('slot', t.slot, 'weekdays', '[1, 2, 3, 4, 5]'::jsonb)) end
        from jsonb_array_elements(
          case coalesce(jsonb_typeof(p.preferences -> 'stretch_times'), 'null')
            when 'array' then p.preferences -> 'stretch_times'
            when 'null' then '["10:30"]'
            else '[null]'
          end
        ) as e (time)
        cross join lateral (select tacet.preferred_slot(e.time, null)) as t (slot)
      ) as slots
    from tacet.wished_reminders(stretch_audience.only_user, 'stretch_reminders') p
  ) w
$$;

-- What its texts are made of: the name, and how the user wants to be addressed.
create or replace function public.stretch_material(user_id uuid, moment timestamptz)
returns jsonb
language sql stable
as $$
  select tacet.known_facts(stretch_material.user_id, stretch_material.moment)
$$;

insert into tacet.campaigns (is_scheduled, needs_no_session, name, audience, material, push_types, definition)
values (
  false, false, 'stretch', 'public.stretch_audience', 'public.stretch_material', '{stretch}',
  $json$
    {
      "slots": [{"slot": "1030"}],
      "way": "push",
      "category": {"id": "STRETCH", "actions": [
        {"id": "DONE", "title": "Done", "foreground": false},
        {"id": "SNOOZE_15", "title": "Remind in 15 min", "foreground": false}]},
      "composer": {"seconds": 2, "task": "Remind a person who sits a lot to stretch.", "facts": ["name", "weekday", "motivational_style"]},
      "texts": [{"title": "Time to stretch 🧘", "body": ["Stand up and reach for the ceiling.", "Roll your shoulders ten times."]}],
      "payload": {"screen": "stretching"},
      "presentation": {"collapse_id": "stretch", "sound": "reminder.caf"}
    }
  $json$
)
on conflict (name) do update set definition = excluded.definition;

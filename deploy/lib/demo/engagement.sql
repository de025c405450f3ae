-- People of all degrees of engagement, on top of db/examples/engagement.sql and achievement.sql. Played after ritual.sql.

create table demo.engaged (
  name text primary key,
  user_id uuid not null,
  seen_at timestamptz not null
);

-- Where it is eleven now: no reminder of these people comes by itself. The signs of these zones are POSIX's.
create function demo.eleven_zone() returns text
language sql stable
as $$ select 'Etc/GMT' || to_char(extract(hour from now() at time zone 'UTC') - 11, 'FMSG90') $$;

-- Somebody with a device whose last session of ten minutes ended so long ago.
create function demo.add_engaged(person text, away interval, absence text, reminders jsonb, facts jsonb) returns void
language sql
as $$
  with profile as (
    insert into public.profiles (name) values (person) returning id
  ), wishes as (
    insert into public.context_profiles (user_id, time_zone, communication_preferences, reminder_preferences, coaching_facts)
    select
      profile.id, demo.eleven_zone(), jsonb_build_object('absence_response', add_engaged.absence, 'frequency', 'daily'),
      add_engaged.reminders, add_engaged.facts
    from profile
  ), device as (
    insert into public.push_tokens (user_id, device_token, time_zone)
    select profile.id, encode(sha256(convert_to(profile.id::text, 'UTF8')), 'hex'), demo.eleven_zone() from profile
  ), activity as (
    insert into tacet.activity (user_id, session_began_at, last_active)
    select profile.id, now() - add_engaged.away - interval '10 minutes', now() - add_engaged.away from profile
    returning user_id, session_began_at, last_active
  ), session as (
    insert into tacet.user_sessions (user_id, began_at, last_at)
    select activity.user_id, activity.session_began_at, activity.last_active from activity
  )
  insert into demo.engaged (name, user_id, seen_at) select add_engaged.person, profile.id, now() from profile
$$;

select
  demo.add_engaged(
    'Ida', '1 hour', 'check_in_on_me', '{"morning_greeting": true, "meal_reminders": true, "achievements": true}',
    '{"sleep_quality": "good", "weather": "sunny"}'),
  demo.add_engaged(
    'Ravi', '2 days', 'light_nudge',
    '{"workout_reminders": true, "workout_schedule": [{"type": "Run", "weekdays": [1, 2, 3, 4, 5, 6, 7], "time": "07:30"}],
      "hydration_reminders": true, "hydration_frequency": "tri_daily"}',
    '{"streak": 5}'),
  demo.add_engaged('Lena', '5 days', 'check_in_on_me', null, '{"primary_goal": "Run 5 km"}'),
  demo.add_engaged('Olaf', '9 days', 'light_nudge', null, null),
  demo.add_engaged('Sam', '12 days', 'give_me_space', null, null);

insert into tacet.notif_config (name, value) values ('imageBaseURL', '"https://images.example/"');

-- Only requests make it run here, as the coach.
update tacet.campaigns set is_scheduled = false where name = 'lapse';

-- What the simulator got for each, newest last.
create view demo.arrived as
select
  e.name, a.number, a.collapse_id, a.payload ->> 'type' as type, a.payload #>> '{aps,alert,title}' as title,
  a.payload #>> '{aps,alert,body}' as body, a.payload #>> '{aps,category}' as category,
  coalesce(a.payload #>> '{aps,interruption-level}', 'active') as level, a.payload
from demo.engaged e
join public.push_tokens t on t.user_id = e.user_id
join (select p.number, p.token, p.collapse_id, p.payload::jsonb as payload from demo.pushes p where p.status = 200) a
  on a.token = t.device_token;

-- A slot's next row is due in a minute, as for a clock that has gone on: so its text is made now.
create function demo.make_soon(person text, due_campaign text, due_slot text) returns void
language sql
as $$
  update tacet.slots s
  set next_fire_at = clock_timestamp() + interval '1 minute', available_at = clock_timestamp()
  from demo.engaged e
  where e.name = make_soon.person and s.user_id = e.user_id and s.campaign = make_soon.due_campaign and s.slot = make_soon.due_slot
$$;

-- The minute is over for all texts that were made.
create function demo.end_minute() returns void
language sql
as $$
  update tacet.notif_deliveries d
  set fire_at = clock_timestamp(), available_at = clock_timestamp()
  from demo.engaged e
  where d.user_id = e.user_id and d.status = 'scheduled' and d.fire_at < clock_timestamp() + interval '1 minute'
$$;

-- What is rendered but not decided, or pushed but without an outcome.
create view demo.open_reminders as
select d.user_id, d.campaign, d.slot, d.status
from demo.engaged e
join tacet.notif_deliveries d on d.user_id = e.user_id and d.fire_at < clock_timestamp() + interval '1 minute'
left join tacet.push_log l on l.subject_id = d.push_id
where d.status = 'scheduled' or d.status = 'sent' and l.decision is null;

-- The push that a snooze has queued, if it still waits.
create view demo.snoozed as
select e.name, p.id, p.title, p.body, p.send_at, i.available_at
from demo.engaged e
join tacet.pushes p on p.user_id = e.user_id and p.metadata ? 'snooze'
join tacet.inbox i on i.subject_id = p.id;

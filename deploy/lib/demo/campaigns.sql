-- The people of campaigns, on top of demo.sql and of coach.sql, ritual.sql, engagement.sql and achievement.sql in db/examples.
-- Variable: news_url, of a text.

-- A zone where it is so late now: what the demo says of days holds at every hour then. The signs of these zones are POSIX's.
create function demo.zone_at(wanted_hour int) returns text
language sql stable
as $$ select 'Etc/GMT' || to_char(extract(hour from now() at time zone 'UTC') - wanted_hour, 'FMSG90') $$;

-- Only requests make these run here, so that the demo is the same at ten in the morning.
update tacet.campaigns set is_scheduled = false where name in ('coach', 'lapse');

-- The coach. Somebody who wants a check-in a day, and wrote this to the coach so long ago.
create function demo.add_coached(person text, away interval, domain text, message text) returns void
language sql
as $$
  insert into public.context_profiles (user_id, time_zone, context_summary, notification_preferences)
  values (
    demo.add_person(person), demo.zone_at(12), 'Leads a small team, and is learning to make room for other things.',
    '{"check_ins_enabled": true, "frequency": "daily"}');
  with conversation as (
    insert into public.conversations (owner_id, domain, created_at)
    values (demo.person(person), domain, now() - away - interval '5 minutes')
    returning id, owner_id
  )
  insert into public.messages (conversation_id, from_id, text, created_at)
  select c.id, c.owner_id, message, now() - away from conversation c
$$;

select
  demo.add_coached('Eva', '1 day', 'work', 'My presentation is in two days, and I rehearse the first line all day long.'),
  demo.add_coached('Paul', '2 days 12 hours', 'work', 'I have promised the numbers to three teams again.'),
  demo.add_coached('Rita', '5 days', 'health', 'I would love to run in the mornings, but the evenings end late here.'),
  demo.add_coached('Nils', '1 day', 'work', 'Thank you, that was good.'),
  demo.add_coached('Mona', '1 day', 'work', 'My interview is in two days, and I am afraid of freezing in front of them.');

insert into public.pattern_cache (created_at, user_id, theme, occurrences, domains, confidence, synthesis)
values (
  now() - interval '2 days 11 hours', demo.person('Paul'), 'saying yes too fast', 4, '{work}', 0.9,
  'Agrees in the moment and pays for it with the evening.');

-- What was decided about each, and what the simulator got for it.
create view demo.check_ins as
select
  p.name, case d.status when 'sent' then 'committed' else d.status end as decision, d.reason, d.layer, d.push_id,
  l.decision as outcome, a.pushes, a.payload
from tacet.occasions d
join public.profiles p on p.id = d.user_id
left join tacet.push_log l on l.subject_id = d.push_id
cross join lateral (
  select count(*) as pushes, (array_agg(a.payload))[1] as payload from demo.arrived a where a.user_id = d.user_id
) a
where d.campaign = 'coach';

-- Rituals. Somebody with a streak that ends yesterday. terrain: null before onboarding.
create function demo.add_practising(person text, terrain text, nickname text, streak int) returns void
language sql
as $$
  insert into public.terrain_profiles (user_id, terrain_type, nickname)
  values (demo.add_person(person, zone => demo.zone_at(12)), terrain, nickname);
  insert into public.daily_logs (user_id, day, micro_action_completed_at)
  select demo.person(person), (now() at time zone demo.zone_at(12))::date - n, now() - n * interval '1 day'
  from generate_series(1, streak) as n
$$;

select
  demo.add_practising('Ana', 'cold_deficient', 'Low Flame', 3),
  demo.add_practising('Ben', 'warm_excess', 'High Noon', 4),
  demo.add_practising('Cem', 'neutral_balanced', 'Still Water', 3),
  demo.add_practising('Dana', null, null, 0);

-- What became of each row, and what the simulator has got for it.
create view demo.rituals as
select
  p.name, d.user_id, d.slot, d.fire_date, d.fire_at, d.status, d.reason, d.title, d.body, l.decision as outcome, d.push_id
from tacet.occasions d
join public.profiles p on p.id = d.user_id
left join tacet.push_log l on l.subject_id = d.push_id
where d.campaign = 'ritual';

-- Makes the next row of a slot due, as a clock that has gone on.
create function demo.make_due(person text, due_slot text) returns void
language sql
as $$
  update tacet.occasions d
  set fire_at = clock_timestamp(), available_at = clock_timestamp()
  from (
    select r.user_id, r.fire_date
    from demo.rituals r
    where r.name = make_due.person and r.slot = make_due.due_slot and r.status in ('scheduled', 'armed')
      and r.fire_at > clock_timestamp()
    order by r.fire_date
    limit 1
  ) n
  where d.user_id = n.user_id and d.campaign = 'ritual' and d.slot = make_due.due_slot and d.fire_date = n.fire_date
$$;

-- Engagement. Somebody whose last session of ten minutes ended so long ago. It is eleven for them: no reminder comes by itself.
create function demo.add_engaged(person text, away interval, absence text, reminders jsonb, facts jsonb) returns void
language sql
as $$
  insert into public.context_profiles (user_id, time_zone, communication_preferences, reminder_preferences, coaching_facts)
  values (
    demo.add_person(person, zone => demo.zone_at(11)), demo.zone_at(11),
    jsonb_build_object('absence_response', absence, 'frequency', 'daily'), reminders, facts);
  insert into tacet.activity (user_id, session_began_at, last_active)
  values (demo.person(person), now() - away - interval '10 minutes', now() - away);
  insert into tacet.user_sessions (user_id, began_at, last_at)
  values (demo.person(person), now() - away - interval '10 minutes', now() - away)
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

create table demo.engaged as
select p.name, p.id as user_id, now() as seen_at
from public.profiles p
where p.name in ('Ida', 'Ravi', 'Lena', 'Olaf', 'Sam');

insert into tacet.notif_config (name, value) values ('imageBaseURL', '"https://images.example/"');

-- A slot's next row is due in a minute, as for a clock that has gone on: so its text is made now. Returns 1; null for no such slot.
create function demo.make_soon(person text, due_campaign text, due_slot text) returns int
language sql
as $$
  update tacet.slots s
  set next_fire_at = clock_timestamp() + interval '1 minute', available_at = clock_timestamp()
  where s.user_id = demo.person(person) and s.campaign = make_soon.due_campaign and s.slot = make_soon.due_slot
  returning 1
$$;

-- The minute is over for all texts that were made.
create function demo.end_minute() returns void
language sql
as $$
  update tacet.occasions d
  set fire_at = clock_timestamp(), available_at = clock_timestamp()
  from demo.engaged e
  where d.user_id = e.user_id and d.status = 'scheduled' and d.fire_at < clock_timestamp() + interval '1 minute'
$$;

-- What is rendered but not decided, or pushed but without an outcome.
create view demo.open_reminders as
select d.user_id, d.campaign, d.slot, d.status
from demo.engaged e
join tacet.occasions d on d.user_id = e.user_id and d.fire_at < clock_timestamp() + interval '1 minute'
left join tacet.push_log l on l.subject_id = d.push_id
where d.status = 'scheduled' or d.status = 'sent' and l.decision is null;

-- The push that a snooze has queued, if it still waits.
create view demo.snoozed as
select e.name, p.id, p.title, p.body, p.send_at, i.available_at
from demo.engaged e
join tacet.pushes p on p.user_id = e.user_id and p.metadata ? 'snooze'
join tacet.inbox i on i.subject_id = p.id;

-- News: a slot whose text comes from a host. At three in the morning nothing comes by itself: it is noon for Eli.
select demo.add_person('Eli', zone => demo.zone_at(12));

create function demo.news_audience(moment timestamptz, only_user uuid)
returns table (user_id uuid, time_zone text, gap_days int)
language sql stable
as $$
  select p.id, null::text, 1 from public.profiles p where p.name = 'Eli' and (only_user is null or p.id = only_user)
$$;

create function demo.news_material(user_id uuid, moment timestamptz) returns jsonb
language sql stable
as $$ select '{}'::jsonb $$;

insert into tacet.campaigns (is_scheduled, needs_no_session, name, audience, material, push_types, definition)
values (false, false, 'news', 'demo.news_audience', 'demo.news_material', '{news}', jsonb_build_object(
  'slots', '[{"slot": "0300"}]'::jsonb, 'way', 'push', 'content', jsonb_build_object('url', :'news_url'),
  'texts', '[{"title": "{headline}", "body": "{summary}"}]'::jsonb));

-- The slot's next row is that of a day so many days from now, and is due in so many seconds, as for a clock that has gone on.
create function demo.make_news_due(days int, seconds int) returns void
language sql
as $$
  update tacet.slots s
  set
    fire_date = current_date + days, next_fire_at = clock_timestamp() + seconds * interval '1 second',
    available_at = clock_timestamp()
  where s.campaign = 'news'
$$;

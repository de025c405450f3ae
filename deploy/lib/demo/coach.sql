-- People who talk to a coach, and what the coach knows of each; on top of db/examples/coach.sql. Played after demo.sql.

create table demo.coached (
  name text primary key,
  user_id uuid not null
);

-- Where it is noon now: what the demo says of days holds at every hour then. The signs of these zones are POSIX's.
create function demo.noon_zone() returns text
language sql stable
as $$ select 'Etc/GMT' || to_char(extract(hour from now() at time zone 'UTC') - 12, 'FMSG90') $$;

-- Somebody who wants a check-in a day, has a device, and wrote this to the coach so long ago.
create function demo.add_coached(person text, away interval, domain text, message text) returns void
language sql
as $$
  with profile as (
    insert into public.profiles (name) values (person) returning id
  ), wishes as (
    insert into public.context_profiles (user_id, time_zone, context_summary, notification_preferences)
    select
      profile.id, demo.noon_zone(), 'Leads a small team, and is learning to make room for other things.',
      '{"check_ins_enabled": true, "frequency": "daily"}'
    from profile
  ), device as (
    insert into public.push_tokens (user_id, device_token)
    select profile.id, encode(sha256(convert_to(profile.id::text, 'UTF8')), 'hex') from profile
  ), conversation as (
    insert into public.conversations (owner_id, domain, created_at)
    select profile.id, add_coached.domain, now() - add_coached.away - interval '5 minutes' from profile
    returning id, owner_id
  ), written as (
    insert into public.messages (conversation_id, from_id, text, created_at)
    select conversation.id, conversation.owner_id, add_coached.message, now() - add_coached.away from conversation
  )
  insert into demo.coached (name, user_id) select add_coached.person, profile.id from profile
$$;

select
  demo.add_coached('Eva', '1 day', 'work', 'My presentation is in two days, and I rehearse the first line all day long.'),
  demo.add_coached('Paul', '2 days 12 hours', 'work', 'I have promised the numbers to three teams again.'),
  demo.add_coached('Rita', '5 days', 'health', 'I would love to run in the mornings, but the evenings end late here.'),
  demo.add_coached('Nils', '1 day', 'work', 'Thank you, that was good.'),
  demo.add_coached('Mona', '1 day', 'work', 'My interview is in two days, and I am afraid of freezing in front of them.');

insert into public.pattern_cache (created_at, user_id, theme, occurrences, domains, confidence, synthesis)
select
  now() - interval '2 days 11 hours', c.user_id, 'saying yes too fast', 4, '{work}', 0.9,
  'Agrees in the moment and pays for it with the evening.'
from demo.coached c
where c.name = 'Paul';

-- Only requests make it run here, so that the demo is the same at ten in the morning.
update tacet.campaigns set is_scheduled = false where name = 'coach';

-- What was decided about each, and what the simulator got for it.
create view demo.check_ins as
select
  c.name, c.user_id, d.decision, d.reason, d.layer, d.push_id, l.decision as outcome, l.content,
  coalesce(arrived.pushes, 0) as pushes, arrived.payload
from demo.coached c
left join tacet.campaign_decisions d on d.user_id = c.user_id
left join tacet.push_log l on l.subject_id = d.push_id
left join lateral (
  select count(*) as pushes, max(a.payload)::jsonb as payload
  from demo.pushes a
  join public.push_tokens t on t.device_token = a.token
  where a.status = 200 and t.user_id = c.user_id
) arrived on true;

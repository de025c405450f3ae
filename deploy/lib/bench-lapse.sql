-- The host application of deploy/bench lapse: users who have been away for up to 30 days, all in one zone. Filled by a superuser,
-- without triggers and foreign keys; see measure.sql for measure.id.

-- What is the same for all users: the zone, and the hour that is served there.
create table measure.hour (
  zone text not null,
  local_day date not null,
  due_at timestamptz not null
);

insert into measure.hour (zone, local_day, due_at)
select z.name, d.day, (d.day + time '09:00') at time zone z.name
from (values ('Europe/Berlin')) as z (name)
cross join lateral (select (now() at time zone z.name)::date as day) d;

-- One of these, at random.
create function measure.one_of(words text[]) returns text
language sql volatile
as $$ select words[1 + floor(random() * cardinality(words))::int] $$;

create procedure measure.fill_wishes(users int)
language sql
as $$
  insert into public.profiles (id, name) select measure.id('u', n), 'Person ' || n from generate_series(1, users) n;
  insert into public.context_profiles (user_id, time_zone, communication_preferences)
  select
    measure.id('u', n), h.zone,
    jsonb_build_object(
      'absence_response', measure.one_of(
        '{check_in_on_me,check_in_on_me,check_in_on_me,light_nudge,light_nudge,light_nudge,give_me_space,give_me_space,be_quiet}'),
      'preferred_times', measure.one_of('{[],"[\"morning\"]","[\"evening\"]",null}')::jsonb,
      'frequency', measure.one_of('{daily,daily,few_times_a_week,few_times_a_week,weekly,weekly,never}'))
  from generate_series(1, users) n, measure.hour h;
  insert into public.push_tokens (user_id, device_token)
  select measure.id('u', n), encode(sha256(convert_to('token' || n, 'UTF8')), 'hex') from generate_series(1, users) n where n % 50 > 0;
$$;

-- Idle for 0 to 30 days. Of half of those who are away for more than four days some pushes have asked them back since.
create procedure measure.fill_activity(users int)
language sql
as $$
  insert into tacet.activity (user_id, last_active, session_began_at, re_engagement_attempts, re_engaged_at)
  select
    measure.id('u', k.n), k.last_active, k.last_active - interval '10 minutes',
    case when k.is_asked then 1 + floor(random() * least(k.days / 4, 4))::int else 0 end,
    case when k.is_asked then k.due_at - floor(1 + random() * (k.days - 4)) * interval '1 day' end
  from (
    select d.*, d.due_at - d.days * interval '1 day' as last_active, d.days > 5 and random() < 0.5 as is_asked
    from (select n, h.due_at, random() * 30 as days from generate_series(1, users) n, measure.hour h where n % 25 > 0 offset 0) d
    offset 0
  ) k;
  insert into tacet.user_sessions (user_id, began_at, last_at)
  select a.user_id, a.session_began_at - k * interval '2 days', a.last_active - k * interval '2 days'
  from tacet.activity a, generate_series(0, 2) k;
$$;

-- Pushes of messages in the last weeks, and for one in ten users two check-ins of the coach. Caps have the newest check-in.
create procedure measure.fill_pushes(users int, messages int)
language sql
as $$
  insert into tacet.push_log (subject_id, user_id, push_type, decision, sent_at, enqueued_at, claimed_at)
  select measure.id('m', n * 10 + k), measure.id('u', n), 'message', 'sent', t.at, t.at, t.at
  from generate_series(1, users) n, generate_series(0, messages - 1) k
  cross join lateral (select now() - (k * 2 + n % 3 * 0.5) * interval '1 day' as at) t;
  insert into tacet.push_log (subject_id, user_id, push_type, decision, sent_at, enqueued_at, claimed_at, metadata)
  select
    gen_random_uuid(), p.user_id, p.push_type, 'sent', p.at, p.at, p.at,
    jsonb_build_object('campaign', p.campaign, 'due_at', extract(epoch from p.at))
  from (
    select a.user_id, 'reengagement' as push_type, 'lapse' as campaign, a.re_engaged_at as at
    from tacet.activity a
    where a.re_engaged_at is not null
    union all
    select measure.id('u', n), 're_engagement', 'coach', h.due_at - (k * 8 - 7 + n % 9) * interval '1 day'
    from generate_series(1, users) n, generate_series(1, 2) k, measure.hour h
    where n % 10 = 1
  ) p;
  insert into tacet.frequency_caps (user_id, cap_group, committed_at, committed_day)
  select l.user_id, 'check_in', max(l.sent_at), max((l.sent_at at time zone h.zone)::date)
  from tacet.push_log l, measure.hour h
  where l.push_type <> 'message'
  group by l.user_id;
$$;

-- messages: how many pushes each user had.
create procedure measure.fill_absence(users int, messages int)
language plpgsql
as $$
begin
  perform setseed(0.5);
  set session_replication_role = replica;
  call measure.fill_wishes(users);
  call measure.fill_activity(users);
  call measure.fill_pushes(users, messages);
  set session_replication_role = origin;
end
$$;

-- The host application of deploy/bench campaigns: a coach's users, few of whom are eligible. Filled by a
-- superuser, without triggers and foreign keys; see measure.sql for measure.id.

-- reason: why this user is not eligible; null for eligible users.
create table measure.people (
  n int primary key,
  id uuid not null,
  zone text not null,
  reason text
);

-- Half of those who are not eligible have never switched check-ins on, as in life. Zones are such where it is day now, so that
-- midnight changes nobody's day while it is measured.
create procedure measure.pick_people(users int, eligible int)
language plpgsql
as $$
begin
  create temp table zones as
  select row_number() over (order by z.name) - 1 as place, z.name
  from pg_timezone_names z
  where z.name like '%/%' and z.name not like 'posix/%' and extract(hour from now() at time zone z.name) between 6 and 17
  order by z.name
  limit 40;
  insert into measure.people (n, id, zone, reason)
  select
    n, measure.id('u', n), z.name,
    case when n >= eligible then
      ('{never,never,never,off,off,frequency,no_token,pushed,pushed,session}'::text[])[1 + n % 10]
    end
  from generate_series(0, users - 1) n
  join zones z on z.place = n % (select count(*) from zones)
  order by md5(n::text);
end
$$;

create procedure measure.fill_profiles()
language sql
as $$
  insert into public.profiles (id, name) select p.id, 'Person ' || p.n from measure.people p;
  insert into public.context_profiles (user_id, time_zone, context_summary, notification_preferences)
  select
    p.id, p.zone, 'Works as an engineer and has begun to lead a team.',
    case
      when p.reason = 'never' then '{}'
      when p.reason = 'off' then '{"check_ins_enabled": false, "frequency": "daily"}'
      when p.reason = 'frequency' then '{"check_ins_enabled": true, "frequency": "hourly"}'
      when p.reason = 'pushed' then '{"check_ins_enabled": true, "frequency": "weekly"}'
      else
        jsonb_build_object(
          'check_ins_enabled', true, 'frequency', ('{daily,few_times_a_week,weekly}'::text[])[1 + p.n % 3])
    end
  from measure.people p;
  insert into public.push_tokens (user_id, device_token)
  select p.id, encode(sha256(convert_to(p.id::text, 'UTF8')), 'hex')
  from measure.people p
  where p.reason is distinct from 'no_token';
$$;

-- Three conversations of four to forty days ago for everybody, one of today for some; what is said in them is of one in
-- twenty, and of all who are eligible: a third of these has something coming up, a third a pattern, a third neither.
create procedure measure.fill_talks()
language sql
as $$
  insert into public.conversations (id, owner_id, domain, created_at)
  select measure.id('c', p.n * 4 + k), p.id, 'work', now() - (4 + p.n % 7 + k * 10) * interval '1 day'
  from measure.people p, generate_series(0, 2) k;
  insert into public.conversations (id, owner_id, domain, created_at)
  select measure.id('c', p.n * 4 + 3), p.id, 'work', now() - interval '5 minutes' from measure.people p where p.reason = 'session';
  insert into public.messages (conversation_id, from_id, text, created_at, updated_at, read_by)
  select c.id, p.id, 'I want to talk about how the new team works together.', c.created_at, c.created_at, '{}'
  from measure.people p
  join public.conversations c on c.owner_id = p.id
  where p.n % 20 = 0 or p.reason is null;
  insert into public.messages (conversation_id, from_id, text, created_at, updated_at, read_by)
  select measure.id('c', p.n * 4), p.id, 'My presentation for the board is tomorrow.', now() - interval '1 day', now(), '{}'
  from measure.people p
  where p.reason is null and p.n % 3 = 0;
  insert into public.pattern_cache (user_id, theme, occurrences, domains, confidence, synthesis, created_at)
  select p.id, 'saying yes too early', 5, '{work}', 0.9, 'Takes on more than there is time for.', now() - interval '3 days'
  from measure.people p
  where p.reason is null and p.n % 3 = 1;
$$;

-- For everybody ten pushes of messages in the last weeks, and the check-ins of those who had some: long ago, or recently.
create procedure measure.fill_pushes()
language sql
as $$
  insert into tacet.push_log (subject_id, user_id, push_type, decision, sent_at, enqueued_at, claimed_at)
  select measure.id('m', p.n * 10 + k), p.id, 'message', 'sent', t.at, t.at, t.at
  from measure.people p, generate_series(0, 9) k
  cross join lateral (select now() - (k * 2 + p.n % 3 * 0.5) * interval '1 day' as at) t;
  insert into tacet.push_log (subject_id, user_id, push_type, decision, sent_at, enqueued_at, claimed_at, metadata)
  select measure.id('k', p.n * 3 + k), p.id, 're_engagement', 'sent', t.at, t.at, t.at,
    jsonb_build_object('campaign', 'coach', 'layer', 're_engagement', 'due_at', extract(epoch from t.at))
  from measure.people p, generate_series(1, 3) k
  cross join lateral (
    select now() - k * interval '8 days' + case when p.reason = 'pushed' then interval '5 days' else interval '0' end as at
  ) t
  where p.reason is null or p.reason in ('pushed', 'session', 'no_token');
$$;

create procedure measure.fill_coach(users int, eligible int)
language plpgsql
as $$
begin
  set session_replication_role = replica;
  call measure.pick_people(users, eligible);
  call measure.fill_profiles();
  call measure.fill_talks();
  call measure.fill_pushes();
  set session_replication_role = origin;
end
$$;

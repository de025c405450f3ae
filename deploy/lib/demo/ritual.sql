-- People who get rituals, on top of db/examples/ritual.sql. Played after demo.sql.

create table demo.practising (
  name text primary key,
  user_id uuid not null
);

-- Somebody with a device and a streak that ends yesterday. terrain: null before onboarding.
create function demo.add_practising(person text, terrain text, nickname text, streak int) returns void
language sql
as $$
  with profile as (
    insert into public.profiles (name) values (person) returning id
  ), terrain as (
    insert into public.terrain_profiles (user_id, terrain_type, nickname)
    select profile.id, add_practising.terrain, add_practising.nickname from profile
  ), days as (
    insert into public.daily_logs (user_id, day, micro_action_completed_at)
    select profile.id, (now() at time zone demo.noon_zone())::date - n, now() - n * interval '1 day'
    from profile, generate_series(1, add_practising.streak) as n
  ), device as (
    insert into public.push_tokens (user_id, device_token, time_zone)
    select profile.id, encode(sha256(convert_to(profile.id::text, 'UTF8')), 'hex'), demo.noon_zone() from profile
  )
  insert into demo.practising (name, user_id) select add_practising.person, profile.id from profile
$$;

select
  demo.add_practising('Ana', 'cold_deficient', 'Low Flame', 3),
  demo.add_practising('Ben', 'warm_excess', 'High Noon', 4),
  demo.add_practising('Cem', 'neutral_balanced', 'Still Water', 3),
  demo.add_practising('Dana', null, null, 0);

-- What became of each row, and what the simulator has got for it.
create view demo.rituals as
select
  p.name, p.user_id, d.slot, d.fire_date, d.fire_at, d.status, d.reason, d.title, d.body, l.decision as outcome, d.push_id
from demo.practising p
join tacet.notif_deliveries d on d.user_id = p.user_id and d.campaign = 'ritual'
left join tacet.push_log l on l.subject_id = d.push_id;

-- Makes the next row of a slot due, as a clock that has gone on.
create function demo.make_due(person text, due_slot text) returns void
language sql
as $$
  update tacet.notif_deliveries d
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

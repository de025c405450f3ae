-- Workouts of the application, one for each of so many users, whose rows are Live Activities. On top of measure.sql. Variable: users.

create table public.workouts (
  n int primary key,
  id uuid not null unique,
  user_id uuid not null,
  seconds int not null default 0,
  heart_rate int not null default 0
) with (fillfactor = 50);

grant select, insert, update on public.workouts to app;
grant select on public.workouts to tacet;

insert into public.push_tokens (user_id, device_token)
select measure.id('u', n), encode(sha256(convert_to('phone' || n, 'UTF8')), 'hex') from generate_series(1, :users) as n
on conflict do nothing;

-- What each user's app has told: the token by which its workouts are started.
insert into tacet.activity_start_tokens (user_id, type, device_token, token)
select t.user_id, 'WorkoutActivityAttributes', t.device_token, encode(sha256(convert_to('start' || n, 'UTF8')), 'hex')
from generate_series(1, :users) as n
join public.push_tokens t on t.device_token = encode(sha256(convert_to('phone' || n, 'UTF8')), 'hex');

select tacet.watch_activity(
  type => 'WorkoutActivityAttributes', source => 'public.workouts', user_column => 'user_id',
  fields => '{"workoutType": "''Run''", "startTime": "clock_timestamp()", "elapsedTime": "new.seconds", "heartRate": "new.heart_rate"}');

-- From the commit of an event to the acceptance that the ledger has, in milliseconds.
create view measure.activity_latencies as
select u.event, u.created_at as began_at, extract(epoch from l.sent_at - pg_xact_commit_timestamp(u.xmin)) * 1000 as ms
from tacet.activity_updates u
join tacet.push_log l on l.subject_id = u.id and l.push_type = 'live_activity'
where l.decision = 'sent';

-- Workouts of the application, whose rows are Live Activities. Played after demo.sql.

create table public.workouts (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references public.profiles (id),
  kind text not null,
  started_at timestamptz not null default now(),
  seconds int not null default 0,
  heart_rate int not null default 0,
  calories int not null default 0,
  exercise text,
  ended_at timestamptz
);

select tacet.watch_activity(
  type => 'WorkoutActivityAttributes',
  source => 'public.workouts',
  user_column => 'user_id',
  fields => '{"workoutType": "new.kind", "startTime": "new.started_at", "elapsedTime": "new.seconds", "heartRate": "new.heart_rate",
    "activeCalories": "new.calories", "currentExercise": "new.exercise"}',
  ended_when => 'new.ended_at is not null');

with profile as (
  insert into public.profiles (name) values ('Wanda') returning id
)
insert into public.push_tokens (user_id, device_token)
select profile.id, encode(sha256(convert_to(profile.id::text, 'UTF8')), 'hex') from profile;

grant select, insert, update on public.workouts to app;

-- What the lock screen of a device shows of a Live Activity, as a line of a timeline.
create function demo.screen(state jsonb) returns text
language sql immutable
as $$
  select format('%s:%s  ♥ %s  %s kcal  %s', (state ->> 'elapsedTime')::int / 60,
    lpad(((state ->> 'elapsedTime')::int % 60)::text, 2, '0'), state ->> 'heartRate', state ->> 'activeCalories', state ->> 'currentExercise')
$$;

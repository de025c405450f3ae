-- Tables of the application whose rows are watched, on top of demo.sql: orders, which are told to their buyer in the language of each
-- device, and workouts, whose rows are Live Activities.

create table public.orders (
  id uuid primary key default gen_random_uuid(),
  buyer_id uuid not null references public.profiles (id),
  seller_id uuid not null references public.profiles (id),
  item_count int not null
);

create function public.order_recipients(subject_id uuid) returns setof uuid
language sql stable
as $$ select o.buyer_id from public.orders o where o.id = subject_id $$;

select tacet.watch(
  kind => 'order_shipped', source => 'public.orders', recipients => 'public.order_recipients', actor => 'seller_id',
  title => '{actor} has sent your order', body => '{item_count} items are on their way');

select tacet.localise('order_shipped', 'de', '{actor} hat deine Bestellung verschickt', '{item_count} Artikel sind unterwegs');
select tacet.localise(
  'order_shipped', 'pl', 'Zamówienie od {actor} jest w drodze', 'Jedzie {item_count} rzeczy', counted => 'item_count',
  plural => '{"one": {"body": "Jedzie {item_count} rzecz"}, "few": {"body": "Jadą {item_count} rzeczy"}}');
select tacet.localise('order_shipped', 'ar', 'أرسل {actor} طلبك', '{item_count}');

-- Ines has a phone, a tablet, a phone for work and one that nobody has set up.
select demo.add_person('Ines', 4), demo.add_person('Jana', 0);

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

select demo.add_person('Wanda');

grant select, insert, update on public.orders, public.workouts to app;

-- What the lock screen of a device shows of a Live Activity, as a line of a timeline.
create function demo.screen(state jsonb) returns text
language sql immutable
as $$
  select format('%s:%s  ♥ %s  %s kcal  %s', (state ->> 'elapsedTime')::int / 60,
    lpad(((state ->> 'elapsedTime')::int % 60)::text, 2, '0'), state ->> 'heartRate', state ->> 'activeCalories', state ->> 'currentExercise')
$$;

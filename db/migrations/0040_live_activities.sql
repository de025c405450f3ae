-- Live Activities: their types, states, tokens and channels.
--
-- Locks: none but on the new tables. An older service works beside it; it parks the updates of Live Activities that it claims.

set client_min_messages = warning;

-- name: the type's name in Swift. attributes, state: fields by name, each `string`, `int`, `number`, `bool` or `date`, with `?` where it
-- may be missing. attribute_defaults: attributes that a start may leave out. first_state: of a start without one. end_state: fields that
-- an end without a state changes. stale_after_start, stale_after_update: when the device calls the state stale; null for never.
-- dismiss_after: how long an ended one stays; null for as long as the system likes. alert_title, alert_body: of a start by push, with
-- {attribute}. priority: of updates that ask for none. urgent_per_hour: pushes of priority 10 in an hour; further updates go with 5.
create table if not exists tacet.activity_types (
  name text primary key check (name ~ '^[A-Za-z_][A-Za-z0-9_.]{0,99}$'),
  attributes jsonb not null check (jsonb_typeof(attributes) = 'object'),
  attribute_defaults jsonb not null default '{}' check (jsonb_typeof(attribute_defaults) = 'object'),
  state jsonb not null check (jsonb_typeof(state) = 'object'),
  first_state jsonb not null default '{}' check (jsonb_typeof(first_state) = 'object'),
  end_state jsonb not null default '{}' check (jsonb_typeof(end_state) = 'object'),
  stale_after_start interval check (stale_after_start between '1 second' and '8 hours'),
  stale_after_update interval check (stale_after_update between '1 second' and '8 hours'),
  dismiss_after interval check (dismiss_after between '0' and '4 hours'),
  alert_title text not null check (char_length(alert_title) between 1 and 100),
  alert_body text not null default '' check (char_length(alert_body) <= 200),
  priority smallint not null default 5 check (priority in (5, 10)),
  urgent_per_hour int not null default 12 check (urgent_per_hour between 0 and 3600)
);

insert into tacet.activity_types (
  name, attributes, attribute_defaults, state, first_state, end_state, stale_after_start, stale_after_update, dismiss_after, alert_title,
  alert_body
)
values
  (
    'WorkoutActivityAttributes', '{"workoutType": "string", "startTime": "date"}', '{}',
    '{"elapsedTime": "number", "heartRate": "int", "activeCalories": "int", "currentExercise": "string?"}',
    '{"elapsedTime": 0, "heartRate": 0, "activeCalories": 0}', '{"heartRate": 0, "currentExercise": "Workout Complete! 🎉"}',
    '30 min', '5 min', '30 s', 'Workout started', '{workoutType}'
  ),
  (
    'MealTrackingActivityAttributes', '{"mealType": "string", "targetCalories": "int", "targetProtein": "number"}',
    '{"targetCalories": 600, "targetProtein": 30}',
    '{"itemsLogged": "int", "totalCalories": "int", "totalProtein": "number", "lastFoodItem": "string?"}',
    '{"itemsLogged": 0, "totalCalories": 0, "totalProtein": 0}', '{}', '2 h', '30 min', '0', 'Meal tracking started', '{mealType}'
  )
on conflict (name) do nothing;

-- Broadcast channels. channel_id: Apple's id; null until Apple has made it. storage: 0 keeps nothing, 1 the newest state. gone_because:
-- why APNs no longer takes its pushes.
create table if not exists tacet.activity_channels (
  created_at timestamptz not null default clock_timestamp(),
  id text primary key,
  app text,
  environment text,
  storage smallint not null check (storage in (0, 1)),
  channel_id text unique,
  gone_because text
);

-- Live Activities, and the streams of states of channels, which have no user.
--
-- version: of the newest state. pushed_version: of the newest row of activity_updates. unix_time: the `timestamp` of its push, which
-- grows with every push. next_push_at: before it no further push begins. source_state: what a watched row said last.
create table if not exists tacet.activities (
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  next_push_at timestamptz not null default '-infinity',
  unix_time bigint not null default 0,
  version int not null default 0,
  pushed_version int,
  id text primary key,
  user_id tacet.user_id,
  type text not null references tacet.activity_types on update cascade,
  channel text references tacet.activity_channels on delete cascade,
  attributes jsonb not null default '{}',
  state jsonb not null,
  source_state jsonb,
  end_reason text,
  check (user_id is not null or channel is not null)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

create index if not exists activities_user_idx on tacet.activities (user_id);
create index if not exists activities_channel_idx on tacet.activities (channel) where channel is not null;
create index if not exists activities_running_idx on tacet.activities (started_at) where ended_at is null;
create index if not exists activities_ended_idx on tacet.activities (ended_at) where ended_at is not null;

-- The pushes of Live Activities; the id is the event's subject. A newer state takes the place of one that waits: version is that of the
-- state, merged counts the states that it has replaced.
create table if not exists tacet.activity_updates (
  created_at timestamptz not null default clock_timestamp(),
  available_at timestamptz not null,
  stale_at timestamptz,
  dismiss_at timestamptz,
  unix_time bigint not null,
  version int not null,
  merged int not null default 0,
  id uuid not null default gen_random_uuid() primary key,
  activity_id text not null references tacet.activities on delete cascade,
  event text not null check (event in ('start', 'update', 'end')),
  priority smallint not null check (priority in (5, 10)),
  relevance double precision,
  state jsonb not null,
  alert jsonb,
  unique (activity_id, version)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

create index if not exists activity_updates_urgent_idx on tacet.activity_updates (activity_id, created_at) where priority = 10;
create index if not exists activity_updates_created_idx on tacet.activity_updates (created_at);

-- The tokens to which a Live Activity's pushes go. device_token: the device's own token where the app has said it, else empty.
create table if not exists tacet.activity_tokens (
  registered_at timestamptz not null default clock_timestamp(),
  activity_id text not null references tacet.activities on delete cascade,
  device_token text not null,
  token text not null,
  app text,
  environment text,
  primary key (activity_id, device_token)
);

create index if not exists activity_tokens_token_idx on tacet.activity_tokens (token);

-- The push-to-start tokens: one for each type and device.
create table if not exists tacet.activity_start_tokens (
  registered_at timestamptz not null default clock_timestamp(),
  user_id tacet.user_id not null,
  type text not null references tacet.activity_types on update cascade on delete cascade,
  device_token text not null,
  token text not null,
  app text,
  environment text,
  primary key (device_token, type)
);

create index if not exists activity_start_tokens_user_idx on tacet.activity_start_tokens (user_id, type);
create index if not exists activity_start_tokens_token_idx on tacet.activity_start_tokens (token);

-- Host tables whose rows are Live Activities; see tacet.watch_activity. fields: SQL over new for each field.
create table if not exists tacet.watched_activities (
  type text primary key references tacet.activity_types on update cascade,
  source regclass not null,
  id_column name not null,
  user_column name not null,
  fields jsonb not null,
  ended_when text not null
);

insert into tacet.migrations (version, name) values (40, '0040_live_activities') on conflict do nothing;

reset client_min_messages;

-- The tables of presence, watched kinds, preferences, service pushes, campaigns, language models, processes and erasure.
--
-- As 0029_tacet_schema, for an empty database and for one of version 19 or later.
--
-- Locks: ACCESS EXCLUSIVE for an instant on tacet.pushes, whose rows are not read.

-- What exists is skipped without a notice.
set client_min_messages = warning;

-- Who looks at which surface that is not a conversation, and who has left. Rewritten all the time: no index on the times, and
-- room beside each row, so that updates stay on their page.
create table if not exists tacet.surface_views (
  last_seen timestamptz,
  left_at timestamptz,
  surface_id tacet.conversation_id not null,
  user_id tacet.user_id not null,
  surface_kind text not null,
  primary key (user_id, surface_id, surface_kind)
) with (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000, vacuum_truncate = off
);

-- Reads of a user that the user's other devices learn by a push of kind read_sync.
--
-- available_at: when that push may go. conversation_id: of the messages; null when they are in several. message_ids: what was
-- read, the oldest first, at most the newest ninety, because a push has no room for more. has_more: whether earlier ones were
-- left out. device_token: the device that has read; null when there were several.
create table if not exists tacet.read_syncs (
  available_at timestamptz not null,
  id uuid primary key default gen_random_uuid(),
  user_id tacet.user_id not null,
  conversation_id tacet.conversation_id,
  has_more boolean not null default false,
  message_ids tacet.message_id[] not null,
  device_token text
) with (fillfactor = 70, vacuum_truncate = off);

create index if not exists read_syncs_user_idx on tacet.read_syncs (user_id, available_at);
create index if not exists read_syncs_available_idx on tacet.read_syncs (available_at);

-- Until when a user has read everything in a conversation; the badge counts from there. built_at: when the mark was last made
-- from the first message.
create table if not exists tacet.unread_marks (
  read_until timestamptz not null,
  built_at timestamptz not null default clock_timestamp(),
  user_id tacet.user_id not null,
  conversation_id tacet.conversation_id not null,
  primary key (user_id, conversation_id)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

comment on table tacet.unread_marks is
  'where counting of unread messages begins; may be emptied at any time, which makes badges slower for an hour';

-- Watched kinds, written by tacet.watch.
--
-- source: the table whose rows are the subjects. update_column: the column whose change is the event; null for inserts.
-- condition: over new, and old for an update. recipients: a function of the subject's id. surface_column: holds the id of what
-- users look at; null for the row itself. surface_table: where that id must exist; null to accept any. placeholders: the
-- columns that title and body name.
create table if not exists tacet.kinds (
  watched_at timestamptz not null default now(),
  source regclass not null,
  surface_table regclass,
  kind text primary key check (kind ~ '^[a-z][a-z0-9_]{0,62}$'),
  surface_kind text not null check (surface_kind ~ '^[a-z][a-z0-9_]{0,62}$'),
  id_column name not null,
  update_column name,
  actor_column name,
  surface_column name,
  recipients text not null,
  condition text not null,
  title text not null check (title <> ''),
  body text not null,
  unnamed_actor text not null,
  placeholders name[] not null
);

-- Triggers run the condition with their owner's rights, so only the owner writes it, whatever other grants there are.
alter table tacet.kinds enable row level security;

do $$
begin
  if not exists (
    select from pg_policies p where p.schemaname = 'tacet' and p.tablename = 'kinds' and p.policyname = 'kinds_are_read'
  ) then
    create policy kinds_are_read on tacet.kinds for select using (true);
  end if;
end
$$;

-- What a user wants in general. quiet_start, quiet_end, quiet_policy: all null without quiet hours. quiet_zone: null for the
-- newest device's zone. changed_at: the user's last change.
create table if not exists tacet.preferences (
  changed_at timestamptz not null default clock_timestamp(),
  quiet_start time,
  quiet_end time,
  user_id tacet.user_id primary key,
  quiet_zone text,
  quiet_policy text check (quiet_policy in ('hold', 'drop')),
  disabled_kinds text[] not null default '{}',
  check (num_nulls(quiet_start, quiet_end, quiet_policy) in (0, 3)),
  check (quiet_start <> quiet_end)
);

-- What a user wants of one conversation. muted_until: when a mute ends; null for a mute without end.
create table if not exists tacet.conversation_preferences (
  muted_until timestamptz,
  user_id tacet.user_id,
  conversation_id tacet.conversation_id,
  is_muted boolean not null,
  mentions_only boolean not null,
  primary key (user_id, conversation_id)
);

-- The zones of the server's tz database. A table, because PostgreSQL searches the file system for each name that it does not
-- know, and keeps for good every name of the form of a POSIX rule, such as FOO+99.
create table if not exists tacet.time_zones (
  spelling text collate "C" primary key,
  name text not null
);

comment on table tacet.time_zones is 'names of time zones; filled by tacet.learn_time_zones()';

-- Pushes that another server or a campaign asks for.
--
-- kind: as in the ledger and the payload. data: the app's own, kept as it will be sent, because jsonb rewrites numbers.
-- idempotency_key: of the request. metadata: copied to the ledger; nothing personal. quiet_policy: hold or drop, before the
-- user's own; null for the user's.
create table if not exists tacet.pushes (
  created_at timestamptz not null default clock_timestamp(),
  id uuid primary key default gen_random_uuid(),
  user_id tacet.user_id not null,
  kind text not null,
  title text not null,
  body text not null,
  collapse_id text,
  idempotency_key text,
  data json,
  metadata jsonb not null default '{}',
  quiet_policy text check (quiet_policy in ('hold', 'drop'))
);

create unique index if not exists pushes_idempotency_key_idx on tacet.pushes (idempotency_key)
  where idempotency_key is not null;
create index if not exists pushes_created_idx on tacet.pushes (created_at);
create index if not exists pushes_user_idx on tacet.pushes (user_id);

-- Every reader of the ledger reads the metadata. What the service writes has a few hundred bytes.
do $$
begin
  if not exists (
    select from pg_constraint c where c.conrelid = 'tacet.pushes'::regclass and c.conname = 'pushes_metadata_check'
  ) then
    alter table tacet.pushes
      add constraint pushes_metadata_check check (octet_length(metadata::text) <= 4096) not valid;
  end if;
end
$$;

-- A campaign: whom it may concern, what is known of them, and what is composed of it.
--
-- local_time: when each user is considered, in the user's zone; null for the service's setting. weekdays: of ISO 8601, Monday
-- is 1. audience: a function (moment timestamptz, only_user tacet.user_id) returns table (user_id tacet.user_id, time_zone text,
-- gap_days int).
-- material: a function (user_id tacet.user_id, moment timestamptz) returns jsonb. push_types: of its pushes; all campaigns share one
-- cap. definition: db/README.md describes it.
create table if not exists tacet.campaigns (
  created_at timestamptz not null default now(),
  local_time time,
  is_active boolean not null default true,
  is_scheduled boolean not null default true,
  needs_no_session boolean not null default true,
  name text primary key check (name ~ '^[a-z][a-z0-9_]{0,62}$'),
  audience text not null,
  material text not null,
  push_types text[] not null check (cardinality(push_types) > 0),
  weekdays smallint[] not null default '{1,2,3,4,5,6,7}' check (weekdays <@ '{1,2,3,4,5,6,7}'),
  definition jsonb not null
);

-- The first campaign, a coach. It runs where PUSH_TRIGGER_ENABLED is set and the host has its tables (db/examples/coach.sql) or
-- functions that take their place. An upgraded database has it, or its operator has removed it.
insert into tacet.campaigns (name, audience, material, push_types, definition)
select
  'coach', 'tacet.check_in_audience', 'tacet.check_in_material', '{event_based,pattern_based,re_engagement}',
  '{"layers": ["event", "pattern", "re_engagement"], "composer": {"kind": "model", "on_failure": "skip"},
    "payload": {"action": "new_conversation"}}'
where not exists (select from tacet.migrations m where m.version = 18)
on conflict (name) do nothing;

-- One enrolment of the users whose hour has come in one zone, or of those whom a request names.
create table if not exists tacet.campaign_runs (
  started_at timestamptz not null default clock_timestamp(),
  due_at timestamptz not null,
  enrolled int not null default 0,
  id uuid primary key default gen_random_uuid(),
  only_user tacet.user_id,
  campaign text not null,
  cause text not null check (cause in ('schedule', 'request')),
  time_zone text
);

create index if not exists campaign_runs_started_idx on tacet.campaign_runs (started_at);

-- Hours that were served, so that each is served once by whichever process comes first.
create table if not exists tacet.campaign_slots (
  due_at timestamptz not null,
  local_day date,
  campaign text,
  time_zone text,
  primary key (campaign, time_zone, local_day)
);

create index if not exists campaign_slots_due_idx on tacet.campaign_slots (due_at);

-- A user whom a campaign considers, once for each of the user's days, and the decision.
--
-- available_at: when it may be claimed; a claim sets it to the end of its lease. due_at: the hour that is served. decision: null
-- while open; committed means that a push was queued, and the ledger has the rest. inputs: ages, counts and flags that the
-- rules read; no text.
create table if not exists tacet.campaign_decisions (
  enrolled_at timestamptz not null default clock_timestamp(),
  available_at timestamptz not null default clock_timestamp(),
  due_at timestamptz not null,
  decided_at timestamptz,
  cost_microdollars bigint not null default 0,
  input_tokens int not null default 0,
  output_tokens int not null default 0,
  local_day date not null,
  attempts smallint not null default 0,
  user_id tacet.user_id not null,
  run_id uuid not null,
  push_id uuid,
  campaign text not null,
  time_zone text not null,
  decision text check (decision in ('committed', 'skipped', 'failed')),
  reason text,
  layer text,
  inputs jsonb not null default '{}',
  primary key (user_id, campaign, local_day)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

create index if not exists campaign_decisions_available_idx on tacet.campaign_decisions (available_at)
  where decision is null;
create index if not exists campaign_decisions_run_idx on tacet.campaign_decisions (run_id);
create index if not exists campaign_decisions_enrolled_idx on tacet.campaign_decisions (enrolled_at);

-- A user's newest push of any campaign. The row is the lock under which the next one is decided.
create table if not exists tacet.frequency_caps (
  committed_at timestamptz,
  committed_day date,
  user_id tacet.user_id primary key
);

-- What language models have cost, a row for each day of UTC, kept for good. reserved_tokens, reserved_microdollars: of calls
-- under way; what a killed process has reserved counts for the rest of the day.
create table if not exists tacet.model_usage (
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  reserved_tokens bigint not null default 0,
  cost_microdollars bigint not null default 0,
  reserved_microdollars bigint not null default 0,
  calls bigint not null default 0,
  day date primary key
);

-- Processes of the service. id: drawn at each start and named in histories. stopped_at: null while the process runs, and for
-- one that was killed, whose seen_at then grows old.
create table if not exists tacet.instances (
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  stopped_at timestamptz,
  pid int not null,
  id text primary key,
  host text not null,
  version text not null
) with (fillfactor = 50, vacuum_truncate = off);

create index if not exists instances_seen_idx on tacet.instances (seen_at);

-- Users whose rows are to be deleted. asked_at: when the host deleted the user. begun_at: the first pass; due_at: the next one.
-- is_clean: the last pass left nothing. source: the table that the user was deleted from; null when unknown.
--
-- The user is not a key: an insert that meets the same key waits for the other session, and this insert is in the host's
-- transaction.
create table if not exists tacet.erasures (
  asked_at timestamptz not null default clock_timestamp(),
  due_at timestamptz not null default clock_timestamp(),
  begun_at timestamptz,
  id bigint generated always as identity primary key,
  user_id tacet.user_id not null,
  source regclass,
  is_clean boolean not null default false
);

create index if not exists erasures_due_idx on tacet.erasures (due_at);

-- Where rows belong to users: every table of the schema with a column user_id or only_user, and the ledger. A new table is
-- covered as soon as it exists.
create or replace view tacet.user_columns as
select c.oid::regclass as relation, a.attname as user_column
from pg_catalog.pg_class c
join pg_catalog.pg_attribute a on a.attrelid = c.oid
where (c.relnamespace = 'tacet'::regnamespace or c.oid = to_regclass('public.push_log'))
  and c.relkind = 'r' and c.oid <> 'tacet.erasures'::regclass
  and a.attname in ('user_id', 'only_user') and a.atttypid = 'tacet.user_id'::regtype and not a.attisdropped;

-- Versions 1 to 26 are in these files. Version 4 tells the service since when messages are enqueued.
insert into tacet.migrations (version, name)
select v.version, '0030_tacet_features' from generate_series(1, 30) as v (version)
on conflict do nothing;

reset client_min_messages;

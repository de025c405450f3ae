-- Schema tacet and the ledger: tables, indexes, policies and the rows that they begin with.
--
-- "create table" is for an empty database, "add column" for one of version 19. Columns are in the order in which they were
-- added, so that both have the same schema.
--
-- Locks: ACCESS EXCLUSIVE for an instant on tacet.settings, tacet.inbox, tacet.pushes, tacet.parked and tacet.trigger_failures;
-- SHARE on tacet.deliveries while an index on what waits for APNs is built. Nothing is rewritten. A running older service is
-- not affected.

-- What exists is skipped without a notice.
set client_min_messages = warning;

comment on schema tacet is 'Push notifications: inbox, remaining deliveries, host contract. Owned by the Tacet service.';
revoke all on schema tacet from public;

-- The bodies of the host contract that Tacet has installed, by md5 with runs of white space as one space. Another body is the
-- host's, and stays.
create table if not exists tacet.default_bodies (
  name text,
  body text,
  primary key (name, body)
);

insert into tacet.default_bodies (name, body)
select b.name, unnest(b.bodies)
from (
  values
    ('check_in_audience',
      '{b1ea955cd049f574eba7432df9f8e4b2,d6ff604304bead9685d00d2315917cb7,dc8daeb5b9aa8ba22c906f68330b172a}'::text[]),
    ('check_in_material',
      '{0926b6ef95741aee84290e4ab594fe0c}'::text[]),
    ('device_token_owners',
      '{893f1c66110ef5c20f5a9177b33e043d,b96df4761262e08a7bec1177f073635b}'::text[]),
    ('device_tokens',
      '{2bc4dc251a94da835da7d03b97f77821,995acc5ef0a8da597373f76010850b9b}'::text[]),
    ('invalidate_device_token',
      '{ca171a51d1a3c706f49eae0f80b09cc9}'::text[]),
    ('is_mentioned',
      '{5a25f8298ee86d8c771d6a828491ebb2,9f038cd8f856dc2fad5b866160f26637}'::text[]),
    ('learn_token_environment',
      '{1dc956b43eab404ecc99991382c21894,99938282f04071859941e18f16efcf42}'::text[]),
    ('mark_read',
      '{2aed641df0cee91111fb41b4fbcbcfb5,eff8e7ca9bb3d80d7217c9914eeb178f}'::text[]),
    ('may_view',
      '{507c9d8c4aa6ef4f1b8aa10da0da6044,c086fe84ad6a9f0d1cac2d737a888548,cd8cc0a76aee423e6c548fd4a0272074}'::text[]),
    ('message_context',
      '{69a1156ffab11c24bc1b437c5961c15f,eaf0f4c28129503eff6ef16a3c9b98ae}'::text[]),
    ('profile_name',
      '{6c52f04f787f8f683fd8cb8bb42ad4a6,9684be204a6f7f2867a298501d0e9316}'::text[]),
    ('recipient_preferences',
      '{6996a71f5d46fa559fc1693b677efddb}'::text[]),
    ('register_device',
      '{168ef4b14dfb2a8948986c9074c3946a,355b016561958f7a4df3dd8b88f072a9,cc2206b9d3ec52612e20d94053000ff1}'::text[]),
    ('remove_device',
      '{21b8f58c52c520655917a47bf662a9d8}'::text[]),
    ('seen_by',
      '{c15b1a0fe83e64c3b55f736512326fd6}'::text[]),
    ('sessions_between',
      '{ab8e7aa0f1044ec232c1b7ae48ee9010}'::text[]),
    ('takes_part',
      '{3a871a39fe5f1a4697099160cc371a3b,cd8cc0a76aee423e6c548fd4a0272074}'::text[]),
    ('unread_count',
      '{253e95db47f31859e65d9d7905cb726d,98501dcf21cd6749ae9ed5b6c169c3fd,b154f36124161496f28cd4e11ee638d9,
      d11a035eb4a470b7354dc485d06556e6}'::text[]),
    ('user_time_zone',
      '{079931aa3de3d07bd370012911e76ced,6c52f04f787f8f683fd8cb8bb42ad4a6,bc8ecb54bbcd83d16e6110f4c20a7432}'::text[]),
    ('view_conversations',
      '{183cf4ad2edb1ccdae3efdc74190d58a,95de20167694ee0b2b5f5ac924c4895f,b2d2006e0838c17da64bc61d643762de,
      fd2cbcfcaa11b90fa369015630269bbf}'::text[])
) as b (name, bodies)
on conflict do nothing;

-- What tacet migrate has applied of functions/: the md5 of each file.
create table if not exists tacet.function_files (
  applied_at timestamptz not null default now(),
  name text primary key,
  checksum text not null
);

-- One row of settings that triggers read. Only the owner reads the secret. listening_until: when the service stops counting
-- as listening. database_identity: the cluster's system identifier and the database's name; null until it is first written.
-- The row is replaced every few seconds, so its page has room for an update in place.
create table if not exists tacet.settings (
  is_only_row boolean primary key default true check (is_only_row),
  notify_enabled boolean not null default true,
  webhook_url text,
  webhook_secret text,
  listening_until timestamptz
) with (fillfactor = 50);

alter table tacet.settings
  add column if not exists database_identity text,
  add column if not exists has_webhook_secret boolean generated always as (webhook_secret is not null) stored;

comment on column tacet.settings.notify_enabled is
  'false for a host that uses PREPARE TRANSACTION, which refuses transactions that have notified';
comment on column tacet.settings.webhook_url is
  'where triggers post a signed webhook when pg_net is installed; null posts nothing';
comment on column tacet.settings.webhook_secret is
  'the service''s WEBHOOK_SECRET: whsec_<base64>, or plain text';
comment on column tacet.settings.listening_until is
  'until when a service has said that it listens; kept by the service, null when none ever did';
comment on column tacet.settings.database_identity is
  'the database that this row was written in; tacet serve refuses to start in another one until tacet adopt';

insert into tacet.settings default values on conflict do nothing;

-- Events without a decision. A row is written in the event's transaction and deleted in the one that records the outcome.
--
-- available_at: when it may be claimed; a claim sets it to the end of its lease, and is_claimed. conversation_id: whose turn it
-- is when a claim cannot take everything. rescues: how often a lease ended without a record. error: why the event could not
-- be read. told_until: the last recipient of those whom a large event has reached, by id; null before its first part.
--
-- A vacuum that returns the end of the table to the disk would block the host's inserts, so freed pages are reused instead. The
-- table is rewritten all the time and small: vacuum it by count, without pauses.
create table if not exists tacet.inbox (
  available_at timestamptz not null default clock_timestamp(),
  enqueued_at timestamptz not null default clock_timestamp(),
  attempts int not null default 0,
  subject_id tacet.subject_id not null,
  kind text not null,
  conversation_id tacet.conversation_id,
  rescues int not null default 0,
  is_claimed boolean not null default false,
  error text,
  primary key (subject_id, kind)
) with (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000,
  vacuum_truncate = off, autovacuum_vacuum_cost_delay = 0
);

alter table tacet.inbox add column if not exists told_until tacet.user_id;

create index if not exists inbox_fresh_idx on tacet.inbox (available_at) where not is_claimed;
create index if not exists inbox_claimed_idx on tacet.inbox (available_at) where is_claimed;

-- What remains to be done for one recipient of a decided event.
--
-- state: held waits for the rules to learn more, retryable is one push that was put off, waiting is for a lane that takes
-- nothing now. lane: the app and environment that a waiting row waits for. accepted_devices: device tokens that have this push
-- already. since: when the state was decided. held_us: microseconds held on purpose before that. retries: how often APNs'
-- answers have put the push off; waits double by it. released_at, released_by: when and by what a hold ended early.
create table if not exists tacet.deliveries (
  due_at timestamptz not null,
  enqueued_at timestamptz not null,
  attempts int not null default 0,
  subject_id tacet.subject_id not null,
  user_id tacet.user_id not null,
  kind text not null,
  state text not null,
  accepted_devices text[] not null default '{}',
  since timestamptz not null default now(),
  held_us bigint not null default 0,
  conversation_id tacet.conversation_id,
  rescues int not null default 0,
  is_claimed boolean not null default false,
  lane text,
  error text,
  retries int not null default 0,
  released_at timestamptz,
  released_by text,
  primary key (subject_id, user_id, kind),
  constraint deliveries_state_check check (
    state in ('held', 'retryable', 'waiting') and (lane is not null) = (state = 'waiting')
  )
) with (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000,
  vacuum_truncate = off, autovacuum_vacuum_cost_delay = 0
);

create index if not exists deliveries_due_idx on tacet.deliveries (due_at) where state <> 'waiting';
create index if not exists deliveries_waiting_idx on tacet.deliveries (lane, enqueued_at) where state = 'waiting';
create index if not exists deliveries_suspect_idx on tacet.deliveries (due_at) where rescues > 1;
create index if not exists deliveries_held_idx on tacet.deliveries (user_id, conversation_id) where state = 'held';
-- The moment from which the push's life counts, as an interval since 1970: expressions of intervals can be indexed, those of
-- times cannot.
create index if not exists deliveries_expiry_idx on tacet.deliveries
  ((enqueued_at - timestamptz 'epoch' + held_us * interval '1 microsecond')) where state = 'waiting';

-- Holds that a host's transaction wanted to release and could not. The service empties it.
create table if not exists tacet.releases (
  queued_at timestamptz not null default clock_timestamp(),
  id bigint generated always as identity primary key,
  subject_id tacet.subject_id not null,
  user_id tacet.user_id not null,
  cause text not null
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, vacuum_truncate = off);

create index if not exists releases_queued_idx on tacet.releases (queued_at);

-- What cannot succeed, with the reason, until an operator calls tacet.replay. user_id: null for an event that could not be read.
create table if not exists tacet.parked (
  parked_at timestamptz not null default clock_timestamp(),
  enqueued_at timestamptz not null,
  attempts int not null,
  subject_id tacet.subject_id not null,
  user_id tacet.user_id,
  conversation_id tacet.conversation_id,
  held_us bigint not null default 0,
  kind text not null,
  reason text not null,
  accepted_devices text[] not null default '{}'
);

create index if not exists parked_subject_idx on tacet.parked (subject_id);
create index if not exists parked_parked_idx on tacet.parked (parked_at);

-- Errors that a trigger caught, so that the host's statement succeeded. subject_ids: events without an inbox row, which the
-- service enqueues. kind: of those events.
create table if not exists tacet.trigger_failures (
  failed_at timestamptz not null default clock_timestamp(),
  sqlstate text not null,
  message text not null,
  subject_ids tacet.subject_id[] not null default '{}',
  kind text not null default 'message'
) with (vacuum_truncate = off);

create index if not exists trigger_failures_missed_idx on tacet.trigger_failures (failed_at) where subject_ids <> '{}';
create index if not exists trigger_failures_failed_idx on tacet.trigger_failures (failed_at);

-- A publication FOR ALL TABLES refuses to update or delete rows without an identity. Both tables are nearly empty.
alter table tacet.trigger_failures replica identity full;
alter table tacet.parked replica identity full;

-- 0027_host_tables makes the ledger tacet.push_log with these indexes. An earlier version has made it in schema public, where it
-- is until 0034_ledger_in_tacet, and may lack one. "if not exists" would ask for the right to create in schema public, also for
-- what exists.
--
-- On Supabase users may read their own rows of the ledger, and servers all. Nobody there may change one.
do $$
declare
  ledger regclass := coalesce(to_regclass('tacet.push_log'), to_regclass('public.push_log'));
  place name := (select n.nspname from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = ledger);
  wanted record;
  person name;
begin
  for wanted in
    select *
    from (
      values
        (1, 'push_log_subject_idx', 'unique', '(subject_id, user_id, push_type)'),
        (2, 'push_log_enqueued_idx', '', '(enqueued_at)'),
        (3, 'push_log_user_enqueued_idx', '', '(user_id, enqueued_at desc)'),
        -- When a user last got a push that is no message. "is true" keeps the planner from using it for statements about one type.
        (4, 'push_log_campaign_idx', '', '(user_id, sent_at desc) where (push_type <> ''message'') is true')
    ) as w (rank, name, uniqueness, definition)
    where to_regclass(format('%I.%I', place, w.name)) is null
    order by w.rank
  loop
    execute format('create %s index %I on %s %s', wanted.uniqueness, wanted.name, ledger, wanted.definition);
  end loop;

  if not (select c.relrowsecurity from pg_class c where c.oid = ledger::regclass) then
    execute format('alter table %s enable row level security', ledger);
  end if;
  if to_regprocedure('auth.uid()') is not null and not exists (
    select from pg_policy p where p.polrelid = ledger and p.polname = 'push_log_own_rows'
  ) then
    execute format('create policy push_log_own_rows on %s for select using (user_id = auth.uid())', ledger);
  end if;
  if not exists (select from tacet.migrations m where m.version = 20) then
    execute format('revoke all on %s from public', ledger);
    for person in select r.rolname from pg_roles r where r.rolname in ('anon', 'authenticated') loop
      execute format('revoke all on %s from %I', ledger, person);
    end loop;
    for person in select r.rolname from pg_roles r where r.rolname in ('authenticated', 'service_role') loop
      execute format('grant select on %s to %I', ledger, person);
    end loop;
  end if;
end
$$;

insert into tacet.migrations (version, name) values (29, '0029_tacet_schema') on conflict do nothing;

reset client_min_messages;

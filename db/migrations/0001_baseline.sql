-- The whole schema: what Tacet keeps, and what it adds to the host's tables.
--
--    1  the schema, and what was applied to it        7  users: wishes, devices, erasure
--    2  the service's settings and processes          8  Live Activities
--    3  work that waits                               9  campaigns
--    4  the ledger                                   10  slots: pushes at times of a user's day
--    5  kinds of push, and what they say             11  events for the host
--    6  presence, reads and activity                 12  the host's tables
--
-- A host that cannot be served is refused with SQLSTATE TC001, and nothing is made. Applied again, the file changes nothing.
--
-- Locks: in part 12 alone, which says them.

-- 1. The schema, and what was applied to it -------------------------------------------------------------------------------------

do $$
declare
  relation text;
begin
  if current_setting('server_encoding') <> 'UTF8' then
    raise exception 'not wired: the encoding of the database is %, and Tacet needs UTF8', current_setting('server_encoding')
      using errcode = 'TC001';
  end if;
  if to_regnamespace('tacet') is null then
    create schema tacet;
  end if;
  select min(c.relname) into relation
  from pg_class c
  where c.relnamespace = 'tacet'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f', 'S')
    and (to_regclass('tacet.migrations') is null or to_regclass('tacet.host_additions') is null);
  if relation is not null then
    raise exception e'not wired: schema tacet is there already, and its % was not made by Tacet\nTacet keeps everything in a '
      'schema of this name. Rename yours.', relation
      using errcode = 'TC001';
  end if;
exception
  when insufficient_privilege then
    raise exception e'not wired: role % may not create schemas\nAs a role that may: create schema tacet authorization %;',
      current_user, quote_ident(current_user)
      using errcode = 'TC001';
end
$$;

-- What exists is skipped without a notice.
set client_min_messages = warning;

comment on schema tacet is 'Push notifications: inbox, remaining deliveries, host contract. Owned by the Tacet service.';
revoke all on schema tacet from public;

do $$
begin
  if to_regclass('tacet.migrations') is null then
    return;
  end if;
  if exists (select from tacet.migrations) and not exists (
    select from tacet.migrations m where m.version = 1 and m.name = '0001_baseline'
  ) then
    raise exception e'not wired: the schema is from before the first release, and cannot be upgraded\nReinstall: stop the '
      'service, take the schema out with psql -X -f db/uninstall.sql, and migrate again. Your tables and rows stay; what Tacet '
      'has kept, its ledger too, goes.'
      using errcode = 'TC001';
  end if;
end
$$;

-- Which files of this folder were applied. Each file inserts its own row, so files applied by psql count too.
create table if not exists tacet.migrations (
  applied_at timestamptz not null default now(),
  version int primary key,
  oldest_service int,
  name text not null,
  checksum text
);

comment on column tacet.migrations.oldest_service is
  'the newest migration that a service beside this one must know; null for any service';
comment on column tacet.migrations.checksum is
  'md5 of the file that tacet migrate has applied; null for files applied by psql';

-- What tacet migrate has applied of functions/: the md5 of each file.
create table if not exists tacet.function_files (
  applied_at timestamptz not null default now(),
  name text primary key,
  checksum text not null
);

-- The bodies of the host contract that Tacet has installed, by md5 with runs of white space as one space. Another body is the
-- host's, and stays.
create table if not exists tacet.default_bodies (
  name text,
  body text,
  primary key (name, body)
);

-- What was added to the host's tables; uninstall.sql takes it away. kind: column, index or storage.
create table if not exists tacet.host_additions (
  relation text,
  kind text,
  name text,
  primary key (relation, kind, name)
);

-- 2. The service's settings and processes ---------------------------------------------------------------------------------------

-- One row of settings that triggers read. Only the owner reads the secret. listening_until: when the service stops counting
-- as listening. database_identity: the cluster's system identifier and the database's name; null until it is first written.
-- The row is replaced every few seconds, so its page has room for an update in place.
create table if not exists tacet.settings (
  is_only_row boolean primary key default true check (is_only_row),
  notify_enabled boolean not null default true,
  webhook_url text,
  webhook_secret text,
  listening_until timestamptz,
  database_identity text,
  offered_campaigns text[] not null default '{}',
  has_webhook_secret boolean generated always as (webhook_secret is not null) stored
) with (fillfactor = 50);

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

comment on column tacet.settings.offered_campaigns is
  'the campaigns of db/campaigns that were inserted; one that an operator has removed does not come back';

insert into tacet.settings default values on conflict do nothing;

-- Processes of the service. id: drawn at each start and named in histories. stopped_at: null while the process runs, and for
-- one that was killed, whose seen_at then grows old. lease_until: until when its shards are its own; null for one that has none.
create table if not exists tacet.instances (
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  stopped_at timestamptz,
  lease_until timestamptz,
  pid int not null,
  id text primary key,
  host text not null,
  version text not null
) with (fillfactor = 50, vacuum_truncate = off);

create index if not exists instances_seen_idx on tacet.instances (seen_at);

-- The sixteen parts into which conversations are divided. owner: the process that claims the work of the shard's conversations;
-- null for none. epoch: how often the owner has changed. taken_at: when it last did. What was enqueued before that may be what the
-- former owner left behind.
create table if not exists tacet.shards (
  taken_at timestamptz not null default clock_timestamp(),
  epoch bigint not null default 0,
  shard int primary key,
  owner text
) with (fillfactor = 50, vacuum_truncate = off);

insert into tacet.shards (shard) select n from generate_series(0, 15) n on conflict do nothing;

-- 3. Work that waits ------------------------------------------------------------------------------------------------------------

-- Events without a decision. A row is written in the event's transaction and deleted in the one that records the outcome.
--
-- available_at: when it may be claimed. The owner of the row's shard takes a new message without a write; any other claim sets
-- available_at to the end of its lease, and is_claimed. conversation_id: whose turn it is when a claim cannot take everything, and
-- what its shard comes from (tacet.shard_of). rescues: how often a lease ended without a record. error: why the event could not be
-- read. told_until: the last recipient of those whom a large event has reached, by id; null before its first part.
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
  told_until tacet.user_id,
  primary key (subject_id, kind)
) with (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000,
  vacuum_truncate = off, autovacuum_vacuum_cost_delay = 0
);

create index if not exists inbox_available_idx on tacet.inbox (is_claimed, available_at);

-- What remains to be done for one recipient of a decided event.
--
-- state: held waits for the rules to learn more, retryable is one push that was put off, waiting is for a lane that takes
-- nothing now. lane: the app and environment that a waiting row waits for. accepted_devices: device tokens that have this push
-- already. since: when the state was decided. held_us: microseconds held on purpose before that. retries: how often APNs'
-- answers have put the push off; waits double by it. released_at, released_by: when and by what a hold ended early. device_waits:
-- the devices that wait longer than the row, a JSON object of their marks, as DeviceWait in Swift has it; null for none.
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
  device_waits text,
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
create index if not exists deliveries_activity_idx on tacet.deliveries (user_id) where kind = 'live_activity';
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

-- 4. The ledger -----------------------------------------------------------------------------------------------------------------

-- One row for each event and recipient.
--
-- content: only of pushes that the service composed, never message text. woken_microseconds: from the wake-up to the claim;
-- decided_microseconds, accepted_microseconds: from the claim. history: a JSON object for each claim that left a record, the
-- oldest first, the first twenty and the newest twenty; ages, flags, reasons and the beginnings of device tokens, no text and
-- no name. opened_at: when the app first reported it.
--
-- id is a UUID of version 7 (RFC 9562, section 5.7): 48 bits of milliseconds, then random bits, so that ids of one moment share
-- a page of the primary key. overlay keeps the version digit of a random UUID, 4; setting two bits makes it 7. It is an
-- expression because a function would need its own grant for each role that inserts.
--
-- Rows are appended at one end and pruned at the other. Vacuum reads every index in full, so it comes at 2 percent and not
-- more often; inserts alone make it visit and freeze new pages.
create table if not exists tacet.push_log (
  enqueued_at timestamptz not null default now(),
  claimed_at timestamptz,
  held_until timestamptz,
  sent_at timestamptz,
  opened_at timestamptz,
  woken_microseconds int,
  decided_microseconds int,
  accepted_microseconds int,
  devices_accepted smallint not null default 0,
  attempts smallint not null default 1,
  opened boolean not null default false,
  id uuid primary key default encode(
    set_bit(
      set_bit(
        overlay(
          uuid_send(gen_random_uuid())
          placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
          from 1 for 6),
        52, 1),
      53, 1),
    'hex')::uuid,
  user_id tacet.user_id not null,
  subject_id tacet.subject_id,
  push_type text not null,
  decision text not null check (decision in ('sent', 'held', 'skipped', 'failed')),
  reason text,
  woken_by text,
  content text,
  metadata jsonb not null default '{}',
  history jsonb not null default '[]'
) with (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 10000
);

create unique index if not exists push_log_subject_idx on tacet.push_log (subject_id, user_id, push_type);
create index if not exists push_log_enqueued_idx on tacet.push_log (enqueued_at);
create index if not exists push_log_user_enqueued_idx on tacet.push_log (user_id, enqueued_at desc);
-- When a user last got a push that is no message. "is true" keeps the planner from using it for statements about one type.
create index if not exists push_log_campaign_idx on tacet.push_log (user_id, sent_at desc)
  where (push_type <> 'message') is true;

-- On Supabase users may read their own rows of the ledger, and servers all. Nobody there may change one. Later grants are the
-- host's, and stay.
do $$
declare
  person name;
begin
  if exists (select from tacet.migrations) then
    return;
  end if;
  alter table tacet.push_log enable row level security;
  if to_regprocedure('auth.uid()') is not null then
    create policy push_log_own_rows on tacet.push_log for select using (user_id = auth.uid());
  end if;
  revoke all on tacet.push_log from public;
  for person in select r.rolname from pg_roles r where r.rolname in ('anon', 'authenticated') loop
    execute format('revoke all on tacet.push_log from %I', person);
  end loop;
  for person in select r.rolname from pg_roles r where r.rolname in ('authenticated', 'service_role') loop
    execute format('grant select on tacet.push_log to %I', person);
  end loop;
end
$$;

-- 5. Kinds of push, and what they say -------------------------------------------------------------------------------------------

-- The kinds of push. Each file functions/kind_*.sql inserts its row.
--
-- name: as KnownKinds in the service has it. event_kind: the kind of its events in the inbox and in the ledger's push_type; null
-- for a kind whose events have names that the host or a server chooses. content, audience: functions; see functions/kinds.sql.
create table if not exists tacet.push_kinds (
  name text primary key check (name ~ '^[a-z][a-z0-9_]{0,62}$'),
  event_kind text unique check (event_kind ~ '^[a-z][a-z0-9_]{0,62}$'),
  content text not null,
  audience text not null
);

do $$
begin
  -- What the rules and the composer need of one event.
  --
  -- surface_id: what its recipients may be looking at, and by which preferences mute. actor_id: a user who gets no push of it.
  -- dated_at: when its life begins; null for when it was enqueued. life: how long it may be sent; null for the service's
  -- setting. quiet_policy: hold or drop; null for the recipient's wish. excluded_device: a token that gets no push. withheld:
  -- the reason why it is not sent any more; null while it may be. is_silent: whether nothing is shown, so that no preferences
  -- are asked. content: what the kind's file in Sources/Push/PushRules decodes.
  if to_regtype('tacet.push_content') is null then
    create type tacet.push_content as (
      surface_id tacet.conversation_id, actor_id tacet.user_id, dated_at timestamptz, life interval, quiet_policy text,
      excluded_device text, withheld text, is_silent boolean, content json
    );
  end if;
  -- A recipient, and what is known of the user's looks at the surface.
  if to_regtype('tacet.push_recipient') is null then
    create type tacet.push_recipient as (user_id tacet.user_id, last_seen timestamptz, left_at timestamptz);
  end if;
  -- An occasion, and what its campaign wants to become of it. version: of its slot. refusal: why it is not pushed; null when nothing is
  -- known against it. push_type: the kind that ledger and payload name; null for the campaign. findings: what is recorded beside it.
  if to_regtype('tacet.decided_occasion') is null then
    create type tacet.decided_occasion as (
      user_id tacet.user_id, slot text, fire_date date, fire_at timestamptz, version int, attempts int, phase text, time_zone text,
      refusal text, push_type text, title text, body text, category text, data json, findings jsonb
    );
  end if;
end
$$;

-- Watched kinds, written by tacet.watch, whose arguments db/examples/claimed_request.sql describes.
--
-- update_column: null for inserts. surface_column: null for the row itself. surface_table: null to accept any id. placeholders: the
-- columns that the texts and the composer name. expires_in: the life of the push from send_at_column on.
create table if not exists tacet.kinds (
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
  placeholders name[] not null,
  send_at_column name,
  cancel_key text,
  expires_in interval,
  presentation jsonb not null default '{}',
  composer jsonb
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

-- Rows of watched kinds whose bodies a language model writes, or has written. user_id: a recipient. body: null until it is
-- written, and where that failed.
create table if not exists tacet.row_texts (
  asked_at timestamptz not null default clock_timestamp(),
  user_id tacet.user_id,
  subject_id tacet.subject_id not null,
  kind text not null,
  body text check (char_length(body) <= 4096),
  primary key (subject_id, kind)
);

create index if not exists row_texts_user_idx on tacet.row_texts (user_id);
create index if not exists row_texts_asked_idx on tacet.row_texts (asked_at);

-- Texts of watched kinds in other locales; see tacet.localise. title, subtitle, body: null for that of the kind. counted: null for
-- none.
create table if not exists tacet.texts (
  changed_at timestamptz not null default clock_timestamp(),
  kind text not null check (kind ~ '^[a-z][a-z0-9_]{0,62}$'),
  locale text not null check (locale ~ '^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$'),
  title text check (char_length(title) between 1 and 256),
  subtitle text check (char_length(subtitle) <= 256),
  body text check (char_length(body) <= 2048),
  counted name,
  plural jsonb not null default '{}' check (jsonb_typeof(plural) = 'object' and octet_length(plural::text) <= 32768),
  primary key (kind, locale)
);

-- Pushes that another server or a campaign asks for.
--
-- kind: as in the ledger and the payload. data: the app's own, kept as it will be sent, because jsonb rewrites numbers.
-- idempotency_key: of the request. metadata: copied to the ledger, whose readers all read it; nothing personal. quiet_policy:
-- hold or drop, before the user's own; null for the user's. presentation: members as POST /v1/pushes takes them. expires_in: the
-- life of the push from send_at on; null for the service's setting. campaign: the campaign that has written it; null for a
-- server's. cap_group: the group of which the user gets one push a day. excluded_devices: tokens that get no push, separated by
-- blanks. withheld: why it is not to be sent; null while it is.
create table if not exists tacet.pushes (
  created_at timestamptz not null default clock_timestamp(),
  send_at timestamptz,
  expires_in interval,
  id uuid primary key default gen_random_uuid(),
  user_id tacet.user_id not null,
  kind text not null,
  title text not null,
  body text not null,
  collapse_id text,
  idempotency_key text,
  cancel_key text,
  campaign text,
  cap_group text,
  withheld text,
  excluded_devices text,
  data json,
  metadata jsonb not null default '{}' check (octet_length(metadata::text) <= 4096),
  presentation jsonb not null default '{}',
  quiet_policy text check (quiet_policy in ('hold', 'drop'))
);

create unique index if not exists pushes_idempotency_key_idx on tacet.pushes (idempotency_key)
  where idempotency_key is not null;
create index if not exists pushes_created_idx on tacet.pushes (created_at);
create index if not exists pushes_user_idx on tacet.pushes (user_id);
create index if not exists pushes_cancel_key_idx on tacet.pushes (cancel_key) where cancel_key is not null;

-- Keys whose pushes are cancelled, and until when their rows are kept.
create table if not exists tacet.cancellations (
  cancelled_at timestamptz not null default clock_timestamp(),
  cancel_key text primary key check (octet_length(cancel_key) between 1 and 255)
);

create index if not exists cancellations_cancelled_at_idx on tacet.cancellations (cancelled_at);

-- 6. Presence, reads and activity -----------------------------------------------------------------------------------------------

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

-- Reads of a user that the user's other devices learn by a push of kind read_sync, and deleted messages, which all learn to
-- whom they were pushed.
--
-- user_id: null for deleted messages. available_at: when that push may go. conversation_id: of the messages; null when they are
-- in several. message_ids: what was read, the oldest first, at most the newest ninety, because a push has no room for more.
-- has_more: whether earlier ones were left out. device_token: the device that has read; null when there were several.
create table if not exists tacet.read_syncs (
  available_at timestamptz not null,
  id uuid primary key default gen_random_uuid(),
  user_id tacet.user_id,
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

-- When a user's last sign of activity was written. session_began_at: the first sign of the session that it belongs to.
-- re_engagement_attempts: pushes since then that asked the user to come back. re_engaged_at: of the last of these.
create table if not exists tacet.activity (
  last_active timestamptz not null,
  session_began_at timestamptz not null,
  re_engaged_at timestamptz,
  user_id tacet.user_id primary key,
  re_engagement_attempts int not null default 0
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

-- Sessions, those that may still go on included: from the first to the last sign that was written.
create table if not exists tacet.user_sessions (
  began_at timestamptz not null,
  last_at timestamptz not null,
  user_id tacet.user_id not null,
  primary key (user_id, began_at)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

create index if not exists user_sessions_began_idx on tacet.user_sessions (began_at);

-- How engaged users were, once every 72 hours: users by class at period_end, and their sessions that began in the period; see
-- tacet.analyse_engagement.
create table if not exists tacet.engagement_analyses (
  analysed_at timestamptz primary key,
  period_start timestamptz not null,
  period_end timestamptz not null,
  total_users bigint not null,
  active_users bigint not null,
  recent_users bigint not null,
  lapsed_users bigint not null,
  churn_risk_users bigint not null,
  sessions bigint not null,
  session_seconds double precision not null
);

-- 7. Users: wishes, devices, erasure --------------------------------------------------------------------------------------------

-- What a user wants in general. quiet_start, quiet_end, quiet_policy: all null without quiet hours. quiet_zone: null for
-- the zone in which the user lives. content: the choice for all devices; null for none. changed_at: the user's last change.
create table if not exists tacet.preferences (
  changed_at timestamptz not null default clock_timestamp(),
  quiet_start time,
  quiet_end time,
  user_id tacet.user_id primary key,
  quiet_zone text,
  quiet_policy text check (quiet_policy in ('hold', 'drop')),
  content text,
  disabled_kinds text[] not null default '{}',
  check (num_nulls(quiet_start, quiet_end, quiet_policy) in (0, 3)),
  check (quiet_start <> quiet_end)
);

create index if not exists preferences_content_idx on tacet.preferences (user_id) where content is not null;

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
-- know, and keeps for good every name of the form of a POSIX rule, such as FOO+99. rules: a digest of the zone's offsets.
create table if not exists tacet.time_zones (
  spelling text collate "C" primary key,
  name text not null,
  rules text
);

comment on table tacet.time_zones is 'names of time zones and their aliases; filled by tacet.learn_time_zones()';

-- Targets that Tacet keeps itself: subscriptions of browsers and registrations of apps.
--
-- channel: what delivers to it. address: an endpoint or a registration token. keys: what the channel needs beside it, a JSON
-- object. fetch_digest: SHA-256 of the token by which a service worker asks for the newest push, in hexadecimal. expires_at: when
-- it ends by what the browser or the channel says; null for never. drop_reason: why no push goes there any more.
create table if not exists tacet.targets (
  registered_at timestamptz not null default clock_timestamp(),
  dropped_at timestamptz,
  expires_at timestamptz,
  channel text not null check (channel ~ '^[a-z0-9_]{1,32}$'),
  address text not null check (octet_length(address) between 1 and 1024),
  user_id tacet.user_id not null,
  app text,
  keys text check (octet_length(keys) <= 1024),
  locale text,
  time_zone text,
  fetch_digest text,
  drop_reason text,
  primary key (address, channel)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

create index if not exists targets_user_idx on tacet.targets (user_id, registered_at desc);
create index if not exists targets_fetch_idx on tacet.targets (fetch_digest) where fetch_digest is not null;

-- What registrations of device tokens, which are the host's, say of content and language. Targets that Tacet keeps have the same
-- members in tacet.targets.keys. wishes: a JSON object with content, sealing_key and locale. A row counts for its user alone.
create table if not exists tacet.target_wishes (
  channel text not null check (channel ~ '^[a-z0-9_]{1,32}$'),
  address text not null check (octet_length(address) between 1 and 1024),
  user_id tacet.user_id not null,
  wishes text not null check (octet_length(wishes) <= 1024),
  primary key (address, channel)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

create index if not exists target_wishes_user_idx on tacet.target_wishes (user_id);

-- What a device has reported of what it may show. tolerance_seconds: of its alarms.
create table if not exists tacet.device_permissions (
  changed_at timestamptz not null default clock_timestamp(),
  user_id tacet.user_id not null,
  tolerance_seconds int not null default 0,
  is_denied boolean not null default false,
  device_token text primary key
);

create index if not exists device_permissions_user_idx on tacet.device_permissions (user_id);

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

-- Where rows belong to users: every table of the schema with a column user_id or only_user. A new table is covered as soon as it
-- exists.
create or replace view tacet.user_columns as
select c.oid::regclass as relation, a.attname as user_column
from pg_catalog.pg_class c
join pg_catalog.pg_attribute a on a.attrelid = c.oid
where c.relnamespace = 'tacet'::regnamespace and c.relkind = 'r' and c.oid <> 'tacet.erasures'::regclass
  and a.attname in ('user_id', 'only_user') and a.atttypid = 'tacet.user_id'::regtype and not a.attisdropped;

-- 8. Live Activities ------------------------------------------------------------------------------------------------------------

-- Types of Live Activities; db/examples/delivery_activity.sql describes them.
--
-- name: the type's name in Swift. attribute_defaults: attributes that a start may leave out. first_state: of a start without one.
-- end_state: fields that an end without a state changes. stale_after_start, stale_after_update: null for never. dismiss_after: null for
-- as long as the system likes. alert_title, alert_body: of a start by push. priority: of updates that ask for none. urgent_per_hour:
-- pushes of priority 10 in an hour; further updates go with 5.
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
  name, attributes, attribute_defaults, state, first_state, end_state, stale_after_start, stale_after_update, dismiss_after,
  alert_title, alert_body
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

-- Live Activities.
--
-- id: of one that an app has announced, the user's id, a space and the app's. version: of the newest state. pushed_version: of
-- the newest row of activity_updates. unix_time: the `timestamp` of its push, which grows with every push. next_push_at: before
-- it no further push begins. source_state: what a watched row said last.
create table if not exists tacet.activities (
  started_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  next_push_at timestamptz not null default '-infinity',
  unix_time bigint not null default 0,
  version int not null default 0,
  pushed_version int,
  is_announced boolean not null default false,
  id text primary key,
  user_id tacet.user_id not null,
  type text not null references tacet.activity_types on update cascade,
  attributes jsonb not null default '{}',
  state jsonb not null,
  source_state jsonb,
  end_reason text
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);

create index if not exists activities_user_idx on tacet.activities (user_id);
create index if not exists activities_running_idx on tacet.activities (started_at) where ended_at is null;
create index if not exists activities_ended_idx on tacet.activities (ended_at) where ended_at is not null;

-- The pushes of Live Activities; the id is the event's subject. A newer state takes the place of one that waits: version is
-- that of the state, merged counts the states that it has replaced.
create table if not exists tacet.activity_updates (
  created_at timestamptz not null default clock_timestamp(),
  available_at timestamptz not null,
  stale_at timestamptz,
  dismiss_at timestamptz,
  unix_time bigint not null,
  version int not null,
  merged int not null default 0,
  id uuid not null default gen_random_uuid() primary key,
  activity_id text not null references tacet.activities on update cascade on delete cascade,
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
-- is_registered: whether the device was registered for the user when the app reported the token, which then ends with it.
create table if not exists tacet.activity_tokens (
  registered_at timestamptz not null default clock_timestamp(),
  is_registered boolean not null default false,
  activity_id text not null references tacet.activities on update cascade on delete cascade,
  device_token text not null,
  token text not null,
  app text,
  environment text,
  primary key (activity_id, device_token)
);

create index if not exists activity_tokens_token_idx on tacet.activity_tokens (token);

-- The push-to-start tokens: one for each user, type and device.
create table if not exists tacet.activity_start_tokens (
  registered_at timestamptz not null default clock_timestamp(),
  user_id tacet.user_id not null,
  type text not null references tacet.activity_types on update cascade on delete cascade,
  device_token text not null,
  token text not null,
  app text,
  environment text,
  primary key (user_id, type, device_token)
);

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

-- Rows of these tables whose Live Activities are to follow them: written by the host's transactions, emptied by the service.
create table if not exists tacet.changed_rows (
  id bigint generated always as identity primary key,
  changed_at timestamptz not null default clock_timestamp(),
  type text not null,
  subject_id tacet.subject_id not null
) with (autovacuum_vacuum_scale_factor = 0.05);

-- 9. Campaigns ------------------------------------------------------------------------------------------------------------------

-- A campaign: whom it may concern, what is known of them, and what is composed of it. db/examples/evening_campaign.sql describes its
-- columns.
create table if not exists tacet.campaigns (
  created_at timestamptz not null default now(),
  local_time time,
  is_active boolean not null default true,
  is_scheduled boolean not null default true,
  needs_no_session boolean not null default true,
  name text primary key check (name ~ '^[a-z][a-z0-9_]{0,62}$'),
  audience text not null,
  material text not null,
  on_push text,
  on_action text,
  cap_group text check (cap_group ~ '^[a-z][a-z0-9_]{0,62}$'),
  push_types text[] not null check (cardinality(push_types) > 0),
  weekdays smallint[] not null default '{1,2,3,4,5,6,7}' check (weekdays <@ '{1,2,3,4,5,6,7}'),
  definition jsonb not null
);

-- One enrolment: of the users whose hour has come, or of those whom a request names. An hour is served once, by whichever process comes
-- first. finished_at: null while users after last_user are to be enrolled. zones: where the users live whom it has seen.
create table if not exists tacet.campaign_runs (
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  due_at timestamptz not null,
  enrolled int not null default 0,
  id uuid primary key default gen_random_uuid(),
  only_user tacet.user_id,
  last_user tacet.user_id,
  campaign text not null,
  cause text not null check (cause in ('schedule', 'request')),
  zones text[] not null default '{}'
);

create index if not exists campaign_runs_started_idx on tacet.campaign_runs (started_at);
create unique index if not exists campaign_runs_hour_idx on tacet.campaign_runs (campaign, due_at) where cause = 'schedule';

-- An occasion: a time of one of a user's days at which a campaign may push, what it says, and what became of it.
--
-- slot: the time of the day, such as 0800; empty for the one occasion of a day of a campaign that comes at an hour. fire_date: the
-- user's day. fire_at: when it is due. available_at: when it may be claimed; a claim sets it to the end of its lease, and infinity is
-- for what devices show by themselves. rendered_at: when it was entered, or its words were last rendered. changed_at: of the status
-- among others. push_id: of the push that was queued. run_id: of an hour's enrolment. armed_by: device tokens that show it without a
-- push. snoozes: how often the user has asked to be reminded again. title, body, category, data: of slots; the words of others are in
-- the ledger alone. layer, inputs: what the rules found and read, ages, counts and flags, no text.
create table if not exists tacet.occasions (
  fire_at timestamptz not null,
  available_at timestamptz not null,
  rendered_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp(),
  cost_microdollars bigint not null default 0,
  push_id uuid,
  run_id uuid,
  fire_date date not null,
  input_tokens int not null default 0,
  output_tokens int not null default 0,
  user_id tacet.user_id not null,
  attempts int not null default 0,
  snoozes smallint not null default 0,
  has_slot boolean not null generated always as (slot <> '') stored,
  campaign text not null,
  slot text not null default '',
  phase text,
  time_zone text not null,
  status text not null default 'scheduled'
    check (status in ('scheduled', 'armed', 'sent', 'delivered', 'opened', 'skipped', 'cancelled', 'failed')),
  reason text,
  title text,
  body text,
  category text,
  data json,
  layer text,
  inputs jsonb not null default '{}',
  armed_by text[] not null default '{}',
  primary key (user_id, campaign, slot, fire_date)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

-- Only claims name the end of available_at, so that no look at some users' occasions takes this index while the table is believed
-- empty. What needs a look at each user waits apart from what is rendered.
create index if not exists occasions_available_idx on tacet.occasions (has_slot, available_at)
  where status in ('scheduled', 'armed') and available_at < 'infinity';
create index if not exists occasions_fire_idx on tacet.occasions (fire_at);
create index if not exists occasions_run_idx on tacet.occasions (run_id) where run_id is not null;
-- One of each phase a day, also after the user has moved the slot. What was not shown takes no phase.
create unique index if not exists occasions_phase_idx on tacet.occasions (user_id, campaign, phase, fire_date)
  where phase is not null and status not in ('skipped', 'cancelled', 'failed');

-- The occasions of slots, under the name that hosts know.
create or replace view tacet.notif_deliveries as
select
  fire_at, available_at, rendered_at, changed_at, push_id, fire_date, user_id, attempts, snoozes, campaign, slot, phase, time_zone,
  status, reason, title, body, category, data, armed_by
from tacet.occasions
where slot <> '';

-- A user's newest push of the campaigns of a group. The row is the lock under which the next one is decided.
create table if not exists tacet.frequency_caps (
  committed_day date,
  user_id tacet.user_id not null,
  cap_group text not null,
  primary key (user_id, cap_group)
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

-- What language models were asked for single users. question: a digest of the prompt and of what it is about. reply: null until
-- there is one that may be sent. calls: on that day of UTC.
create table if not exists tacet.model_texts (
  asked_at timestamptz not null default clock_timestamp(),
  day date not null,
  calls int not null default 1,
  user_id tacet.user_id not null,
  question text not null check (octet_length(question) <= 64),
  reply text check (octet_length(reply) <= 16384),
  primary key (user_id, question)
);

create index if not exists model_texts_asked_idx on tacet.model_texts (asked_at);

-- 10. Slots: pushes at times of a user's day ------------------------------------------------------------------------------------

-- A slot of a user in a campaign: a time of the user's day, such as 0800.
--
-- next_fire_at, fire_date: when its next occasion is due; null while the slot is off, or its user
-- is not in the audience. available_at: when that may be rendered; a claim sets it to the end of its lease. delivered_at:
-- when it was last sent on request. version: raised by each change of what the slot is; claims do not count. is_on:
-- whether the user has the campaign on; the same in all of the user's slots of it. is_chosen: whether the user has chosen the
-- slots, so that the campaign's own do not replace them. phase: of slots of which one a day is sent, wherever it is moved.
create table if not exists tacet.slots (
  next_fire_at timestamptz,
  available_at timestamptz,
  delivered_at timestamptz,
  fire_date date,
  user_id tacet.user_id not null,
  attempts int not null default 0,
  version int not null default 0,
  is_on boolean not null default true,
  is_enabled boolean not null default true,
  is_chosen boolean not null default false,
  campaign text not null,
  slot text not null check (slot ~ '^([01][0-9]|2[0-3])[0-5][0-9]$'),
  phase text check (phase ~ '^[a-z][a-z0-9_]{0,62}$'),
  time_zone text not null,
  weekdays smallint[] not null default '{1,2,3,4,5,6,7}' check (weekdays <@ '{1,2,3,4,5,6,7}'),
  primary key (user_id, campaign, slot)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

create index if not exists slots_available_idx on tacet.slots (available_at);

-- A user's schedule. run_at: when it was last rendered on request. told_at: when the user's devices were last told to read it
-- again, or will be.
create table if not exists tacet.schedules (
  run_at timestamptz,
  told_at timestamptz,
  user_id tacet.user_id primary key
);

-- What slot campaigns have fetched from their hosts: one document for all users of a slot, or one for each user.
--
-- fetched_at: of the last answer 200 or 304. fresh_until: how long the document may be used by itself; it may longer for the slots of the
-- next days, see the statement contents. content_date: the day that it was fetched for. attempted_at, fire_date: of the last attempt, and
-- the day that it was for. A day has one attempt; one without an end is made again. url, etag: of
-- the document; the URL is the campaign's, with {user_id} as it is. failure_code: of the last attempt; null when it has
-- succeeded or is under way. owner: the user in the key, which takes no null; the letter keeps the document of all users apart
-- from that of a user whose id is an empty text.
create table if not exists tacet.notif_contents (
  attempted_at timestamptz not null default clock_timestamp(),
  fetched_at timestamptz,
  fresh_until timestamptz,
  fire_date date not null,
  content_date date,
  user_id tacet.user_id,
  campaign text not null,
  slot text not null check (slot ~ '^([01][0-9]|2[0-3])[0-5][0-9]$'),
  url text,
  etag text,
  failure_code text,
  document jsonb check (
    jsonb_typeof(document) = 'object' and not jsonb_path_exists(document, 'strict $.* ? (@.type() <> "string")')
  ),
  owner text generated always as (coalesce('u' || user_id::text, '')) stored,
  primary key (campaign, slot, owner)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

create index if not exists notif_contents_user_idx on tacet.notif_contents (user_id) where user_id is not null;

-- Flags of all slot campaigns that differ from the service's defaults, by the names that apps know. imageBaseURL: where
-- pictures are whose names campaigns have.
create table if not exists tacet.notif_config (
  changed_at timestamptz not null default clock_timestamp(),
  name text primary key,
  value jsonb not null,
  check (
    case name
      when 'mode' then value in ('"online_first"', '"offline_first"')
      when 'prefetchRunner' then value in ('"none"', '"background-runner"')
      when 'scheduler' then value = '"auto"'
      when 'prefetchLeadMinutes' then value::text ~ '^[1-9][0-9]{0,3}$' and value <= '1440'
      when 'ttlSeconds' then value::text ~ '^[1-9][0-9]{0,6}$' and value <= '1209600'
      when 'runnerRearm' then jsonb_typeof(value) = 'boolean'
      when 'iosCategoryIdentifier' then value::text ~ '^"[A-Za-z0-9_.-]{1,100}"$'
      when 'androidChannelId' then value::text ~ '^"[A-Za-z0-9_.-]{1,100}"$'
      when 'androidChannelName' then value::text ~ '^"[^"\\]{1,100}"$'
      when 'imageBaseURL' then value::text ~ '^"https://[!#-\[\]-~]{1,255}/"$'
      else false
    end
  )
);

-- What apps report, once each: acknowledgements and codes of slots, and actions on them. circumstances: what else an event
-- says, under the names of its envelope.
create table if not exists tacet.notif_events (
  received_at timestamptz not null default clock_timestamp(),
  happened_at timestamptz not null,
  id uuid not null,
  user_id tacet.user_id not null,
  code text not null,
  identifier text,
  device_token text,
  circumstances jsonb,
  primary key (user_id, id)
);

create index if not exists notif_events_received_idx on tacet.notif_events (received_at);

-- 11. Events for the host -------------------------------------------------------------------------------------------------------

-- The events that the host gets. kinds: of pushes; null for all.
create table if not exists tacet.announcements (
  event text primary key
    check (event in ('push.unread', 'push.sent', 'push.skipped', 'push.failed', 'device.dropped')),
  kinds text[]
);

-- How long a push of a kind may be unread before push.unread, from its acceptance on.
create table if not exists tacet.escalations (
  after interval not null check (after between interval '1 second' and interval '7 days'),
  kind text primary key check (kind ~ '^[a-z][a-z0-9_]{0,62}$')
);

-- What users want instead. after: null for never.
create table if not exists tacet.unread_preferences (
  after interval check (after between interval '1 second' and interval '7 days'),
  user_id tacet.user_id not null,
  kind text not null,
  primary key (user_id, kind)
);

-- Pushes that will be looked at when they are due. log_id: of the ledger.
create table if not exists tacet.unread_checks (
  due_at timestamptz not null,
  log_id uuid primary key,
  user_id tacet.user_id not null
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create index if not exists unread_checks_due_idx on tacet.unread_checks (due_at);
create index if not exists unread_checks_user_idx on tacet.unread_checks (user_id);

-- Events on their way to the host, the lower id of a user first. What the host has taken goes, except push.unread, which
-- explanations tell of.
--
-- due_at: when it may be tried next, or when the claim ends. first_tried_at, attempts: since it was last made to wait.
-- webhook_id: the same in each attempt. reason: of the ledger, of the drop, or why it was cancelled. status, error: of the last
-- attempt. channel, device: of a dropped device, whose address is cut.
create table if not exists tacet.host_events (
  occurred_at timestamptz not null default clock_timestamp(),
  due_at timestamptz not null default clock_timestamp(),
  first_tried_at timestamptz,
  ended_at timestamptz,
  sent_at timestamptz,
  id bigint generated always as identity primary key,
  webhook_id uuid not null default gen_random_uuid(),
  log_id uuid,
  user_id tacet.user_id not null,
  subject_id tacet.subject_id,
  attempts int not null default 0,
  status int,
  is_claimed boolean not null default false,
  state text not null default 'waiting' check (state in ('waiting', 'taken', 'cancelled', 'dead')),
  type text not null,
  kind text,
  reason text,
  channel text,
  device text,
  error text
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

create index if not exists host_events_due_idx on tacet.host_events (due_at) where state = 'waiting';
create index if not exists host_events_order_idx on tacet.host_events (user_id, id) where state = 'waiting';
create index if not exists host_events_later_idx on tacet.host_events (user_id, due_at) where state = 'waiting';
create index if not exists host_events_claimed_idx on tacet.host_events (user_id, due_at) where state = 'waiting' and is_claimed;
create index if not exists host_events_user_idx on tacet.host_events (user_id);
create index if not exists host_events_ended_idx on tacet.host_events (ended_at) where ended_at is not null;
create index if not exists host_events_dead_idx on tacet.host_events (ended_at) where state = 'dead';
create unique index if not exists host_events_unread_idx on tacet.host_events (log_id) where type = 'push.unread';

reset client_min_messages;

-- 12. The host's tables ---------------------------------------------------------------------------------------------------------

-- Whether a valid index begins with these columns, under any name. An index without a predicate serves any predicate.
--
-- columns, predicate: as pg_get_indexdef writes them. Sort orders are ignored, because an index is read from either end.
create or replace function tacet.has_index(source regclass, columns text, predicate text default null)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from pg_index i
    cross join lateral substring(
      regexp_replace(
        regexp_replace(pg_get_indexdef(i.indexrelid), ' (DESC|ASC|NULLS FIRST|NULLS LAST)', '', 'g'),
        '\((\w+)\)::text', '\1', 'g')
      from ' USING btree \((.*)$') as d (definition)
    cross join lateral substring(d.definition from ' WHERE \((.*)\)$') as p (predicate)
    where i.indrelid = source and i.indisvalid
      and (starts_with(d.definition, columns || ')') or starts_with(d.definition, columns || ', '))
      and (p.predicate is null or p.predicate = has_index.predicate))
$$;

revoke all on function tacet.has_index(regclass, text, text) from public;

-- The checks, columns and indexes of a first installation; later the host may have moved to other tables. A database without
-- any application, ids of another type, columns of ours with another type, and large tables without the indexes are refused.
-- Tables that the host does not have under these names, or that lack the columns by which they are known, and views, are passed
-- over with a notice. So are tables with other types or keys where tacet migrate was told all types of ids (tacet.ids is
-- 'told') and public.messages names no conversation or no sender: the application then has its messages elsewhere, as tacet init
-- finds them, and these tables are others of the same names.
--
-- A column that was there before is the host's. So what says that a client has left a conversation is called tacet_left_at: a
-- left_at of the host's own says that a member has left. last_seen and the columns of push_tokens have one meaning wherever
-- they come from.
--
-- Locks: SHARE on tables that lack an index, and then ACCESS EXCLUSIVE on conversation_participants and push_tokens; nothing is
-- rewritten. An index is built here only on tables of up to 100,000 rows: a tenth of a second for each.
do $$
declare
  -- columns and predicate as tacet.has_index takes them. step: 3 for indexes on columns of ours, which are added in step 2.
  -- preparation: adds the column that a concurrent build needs.
  wanted_indexes constant jsonb := '[
    {"place": 1, "step": 3, "relation": "conversation_participants", "columns": "conversation_id, last_seen",
     "name": "conversation_participants_last_seen_idx", "definition": "(conversation_id, last_seen)",
     "preparation": "alter table public.conversation_participants add column if not exists last_seen timestamptz;"},
    {"place": 2, "step": 1, "relation": "conversation_participants", "columns": "user_id",
     "name": "conversation_participants_user_idx", "definition": "(user_id)"},
    {"place": 3, "step": 1, "relation": "messages", "columns": "conversation_id, created_at",
     "name": "messages_conversation_idx", "definition": "(conversation_id, created_at desc)"},
    {"place": 4, "step": 3, "relation": "push_tokens", "columns": "user_id", "predicate": "invalidated_at IS NULL",
     "name": "push_tokens_user_idx", "definition": "(user_id) where invalidated_at is null",
     "preparation": "alter table public.push_tokens add column if not exists invalidated_at timestamptz;"},
    {"place": 5, "step": 1, "relation": "push_tokens", "columns": "lower(device_token)",
     "name": "push_tokens_spelling_idx", "definition": "(lower(device_token))"},
    {"place": 6, "step": 3, "relation": "push_tokens", "columns": "user_id", "predicate": "invalidated_at IS NOT NULL",
     "name": "push_tokens_dropped_idx", "definition": "(user_id) where invalidated_at is not null"}]';
  is_creator boolean := coalesce((
    select has_schema_privilege(n.oid, 'create') from pg_namespace n where n.nspname = 'public'), false);
  publications text;
  -- The tables of the default contract that are here.
  tables text[];
  is_elsewhere constant boolean := coalesce(current_setting('tacet.ids', true), '') = 'told' and (
    select count(*) < 2
    from pg_attribute a
    where a.attrelid = to_regclass('public.messages') and a.attname in ('conversation_id', 'from_id') and not a.attisdropped);
  strangers text[];
  problems text[];
  missing text;
  views text;
  others text;
  found_columns text;
  remedies text;
  unmade text;
  wanted record;
begin
  if exists (select from tacet.migrations) then
    return;
  end if;

  -- A host keeps its tables under these names or others. A database without any has no application in it yet, and is rather the
  -- wrong one. Schemas that Supabase makes and tables of extensions do not count; host_tables.sql has the same condition.
  if not exists (
    select from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^pg_' and n.nspname not in (
        'information_schema', 'tacet', 'auth', 'storage', 'realtime', 'vault', 'extensions', 'graphql', 'graphql_public', 'net',
        'cron', 'pgsodium', 'pgbouncer', 'supabase_functions', 'supabase_migrations')
      and c.oid is distinct from to_regclass('public.push_log')
      and not exists (
        select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
      )
  ) then
    raise exception e'not wired: table public.profiles is missing, table public.conversations is missing, table '
      'public.conversation_participants is missing, table public.messages is missing, table public.push_tokens is missing, and '
      'there is no other one\nCreate the application''s tables first, or run tacet migrate --create-host-tables, which makes '
      'these.'
      using errcode = 'TC001';
  end if;

  -- A subscriber stops at the first row of a table that it does not have.
  select string_agg(quote_ident(p.pubname), ', ' order by p.pubname) into publications
  from pg_publication p
  where p.puballtables and coalesce(current_setting('tacet.published', true), '') <> 'on';
  if publications is not null then
    raise exception e'not wired: publication % sends every table, and its subscribers stop at the first row of one that they '
      'lack\nRun tacet migrate in each subscriber first, and start no service there. Where that is done, or where the readers of '
      'the publication take new tables: alter database % set tacet.published = ''on''; and migrate again.',
      publications, quote_ident(current_database())
      using errcode = 'TC001';
  end if;

  -- A table of one of the names without the columns by which it is known is another one.
  select
    coalesce(array_agg(k.name order by k.place) filter (where c.oid is not null and k.lacks is null), '{}'),
    string_agg(k.name, ', public.' order by k.place) filter (where c.oid is null),
    string_agg(k.name, ', public.' order by k.place) filter (where c.relkind not in ('r', 'p')),
    string_agg(format('public.%s has no column %s', k.name, k.lacks), ', ' order by k.place)
      filter (where c.oid is not null and k.lacks is not null)
  into tables, missing, views, others
  from (
    select t.*, (
      select string_agg(n.name, ' and ')
      from unnest(t.columns) as n (name)
      where not exists (
        select from pg_attribute a
        where a.attrelid = to_regclass('public.' || t.name) and a.attname = n.name and not a.attisdropped)
    ) as lacks
    from (
      values
        (1, 'profiles', '{id}'::text[]), (2, 'conversations', '{id}'),
        (3, 'conversation_participants', '{conversation_id,user_id}'), (4, 'messages', '{id}'),
        (5, 'push_tokens', '{user_id,device_token}')
    ) as t (place, name, columns)
  ) k
  left join pg_class c on c.oid = to_regclass('public.' || k.name);
  if missing is not null then
    raise notice 'tacet: the host has no public.%; if it keeps these elsewhere, replace what reads them and make the triggers '
      'there (db/CONTRACT.md)', missing;
  end if;
  if views is not null then
    raise notice 'tacet: public.% is no table: columns, indexes and triggers of Tacet belong to the tables behind it '
      '(db/CONTRACT.md)', views;
  end if;
  if others is not null then
    raise notice 'tacet: %, and is not taken for a table of the default contract; replace what reads it (db/CONTRACT.md)', others;
  end if;

  select string_agg(distinct format('publication %I sends public.%s', p.pubname, p.tablename), ', ') into publications
  from pg_publication_tables p
  where p.schemaname = 'public' and p.tablename in ('conversation_participants', 'push_tokens') and p.tablename = any (tables);
  if publications is not null then
    raise notice 'tacet: %, which gets columns; a subscriber that lacks them stops at the next change', publications;
  end if;

  -- Ids go into columns of ours, which have one type for each kind of id; integers go into bigint.
  select array_agg(
    format('public.%s.%s is %s instead of %s', t.relation, t.name, format_type(a.atttypid, a.atttypmod), t.type)
    order by t.place), array_agg(t.relation)
  into problems, strangers
  from (
    values
      (1, 'profiles', 'id', 'tacet.user_id'),
      (2, 'conversations', 'id', 'tacet.conversation_id'),
      (3, 'conversation_participants', 'conversation_id', 'tacet.conversation_id'),
      (4, 'conversation_participants', 'user_id', 'tacet.user_id'),
      (5, 'messages', 'id', 'tacet.message_id'),
      (6, 'messages', 'conversation_id', 'tacet.conversation_id'),
      (7, 'messages', 'from_id', 'tacet.user_id'),
      (8, 'messages', 'created_at', 'timestamp with time zone'),
      (9, 'push_tokens', 'user_id', 'tacet.user_id'),
      (10, 'push_tokens', 'device_token', 'text'),
      (11, 'conversation_participants', 'last_seen', 'timestamp with time zone'),
      (12, 'conversation_participants', 'tacet_left_at', 'timestamp with time zone'),
      (13, 'push_tokens', 'registered_at', 'timestamp with time zone'),
      (14, 'push_tokens', 'invalidated_at', 'timestamp with time zone')
  ) as t (place, relation, name, type)
  join pg_attribute a on a.attrelid = to_regclass('public.' || t.relation) and a.attname = t.name and not a.attisdropped
  where t.relation = any (tables)
    and a.atttypid <> to_regtype(t.type)
    and not (t.type = 'text' and a.atttypid in ('varchar'::regtype, 'bpchar'::regtype))
    and not (t.type = 'bigint' and a.atttypid in ('int'::regtype, 'smallint'::regtype))
    and not (t.name = 'created_at' and a.atttypid = 'timestamp'::regtype);
  if is_elsewhere and problems is not null then
    raise notice 'tacet: %, so it is not taken for a table of the default contract; replace what reads it (db/CONTRACT.md)',
      array_to_string(problems, ', ');
    tables := array(select t.name from unnest(tables) as t (name) where t.name <> all (strangers));
  elsif problems is not null then
    raise exception e'not wired: %\nGive the columns these types. Or keep such tables in another schema, and replace the functions '
      'of the host contract that read them (db/CONTRACT.md).',
      array_to_string(problems, ', ')
      using errcode = 'TC001';
  end if;

  -- Everything is found by its id alone. A partitioned table has the columns by which it is partitioned in each key, and no
  -- unique index on others; an index that begins with the id finds rows there.
  select string_agg(
    format('ids of public.%s may repeat, because its primary key is (%s)', t.name, (
      select string_agg(a.attname, ', ' order by x.place)
      from unnest(k.indkey::int2[]) with ordinality as x (attnum, place)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = x.attnum
    )), ', ' order by t.place), array_agg(t.name)
  into remedies, strangers
  from unnest(array['profiles', 'conversations', 'messages']) with ordinality as t (name, place)
  join pg_class c on c.oid = to_regclass('public.' || t.name)
  join pg_index k on k.indrelid = c.oid and k.indisprimary and k.indnkeyatts > 1
  join pg_attribute i on i.attrelid = c.oid and i.attname = 'id' and i.attnum = any (k.indkey::int2[])
  left join pg_partitioned_table p on p.partrelid = c.oid
  where t.name = any (tables)
    and exists (
      select from unnest(k.indkey::int2[]) as x (attnum)
      where x.attnum <> i.attnum and (p.partattrs is null or x.attnum <> all (p.partattrs::int2[])))
    and not (c.relkind = 'p' and tacet.has_index(c.oid, 'id'))
    and not exists (
      select from pg_index u
      where u.indrelid = c.oid and u.indisunique and u.indisvalid and u.indpred is null and u.indnkeyatts = 1
        and u.indkey[0] = i.attnum
    );
  if is_elsewhere and remedies is not null then
    raise notice 'tacet: %, so it is not taken for a table of the default contract; replace what reads it (db/CONTRACT.md)',
      remedies;
    tables := array(select t.name from unnest(tables) as t (name) where t.name <> all (strangers));
  elsif remedies is not null then
    raise exception e'not wired: %\nTacet finds rows by their ids alone. Where ids are unique, create a unique index on id beside '
      'the key; on a partitioned table, an index that begins with id. Where another tenant has the same id, Tacet cannot serve '
      'the database.', remedies
      using errcode = 'TC001';
  end if;

  -- The types of ids stay once something was pushed, so an application that keeps its messages elsewhere says them.
  if coalesce(current_setting('tacet.ids', true), '') <> 'told' and 2 > (
    select count(*)
    from pg_attribute a
    where 'messages' = any (tables) and a.attrelid = to_regclass('public.messages') and a.attname in ('conversation_id', 'from_id')
      and not a.attisdropped)
  then
    raise exception e'not wired: no table public.messages has columns conversation_id and from_id, so the application keeps its '
      'messages elsewhere\nRun tacet init first. It finds them, and prints tacet migrate with the types of their ids.'
      using errcode = 'TC001';
  end if;
  -- Such a table is read by the functions of tacet init alone, which names the indexes that they need.
  if is_elsewhere then
    tables := array_remove(tables, 'messages');
  end if;

  -- On a large table the owner builds the index beforehand. PostgreSQL builds no index CONCURRENTLY on a partitioned table:
  -- each partition gets its own, attached to one that exists on the parent alone. Rows of a table that was never analysed are
  -- estimated from its size, at 100 bytes each; an analysed table may have grown since.
  select string_agg(t.line, e'\n' order by t.place, t.step, t.branch) into remedies
  from (
    with recursive indexes as (
      select w.*
      from jsonb_to_recordset(wanted_indexes) as w (
        place int, relation text, columns text, predicate text, preparation text, name text, definition text)
      where w.relation = any (tables)
    ), tree (place, relation, branch) as (
      select w.place, to_regclass('public.' || w.relation)::oid, array[0::bigint] from indexes w
      union all
      select t.place, i.inhrelid, t.branch || row_number() over (partition by t.place, i.inhparent order by i.inhrelid)
      from tree t
      join pg_inherits i on i.inhparent = t.relation
    ), large (place) as (
      select t.place
      from tree t
      join pg_class c on c.oid = t.relation and c.relkind = 'r'
      cross join lateral (select pg_relation_size(c.oid) as bytes) s
      group by t.place
      having sum(
        case
          when c.reltuples < 0 then s.bytes / 100.0
          else c.reltuples
            * greatest(s.bytes / greatest(c.relpages, 1) / current_setting('block_size')::float8, 1)
        end) > 100000
    ), made as (
      select
        t.*, c.relkind, n.nspname, w.definition, w.preparation, cardinality(t.branch) = 1 as is_root,
        w.name || coalesce('_' || nullif(array_to_string(t.branch[2:], '_'), ''), '') as index_name,
        format('%I.%I', n.nspname, c.relname) as table_name
      from tree t
      join indexes w on w.place = t.place
      join pg_class c on c.oid = t.relation
      join pg_namespace n on n.oid = c.relnamespace
      where t.place in (select l.place from large l)
        and not tacet.has_index(to_regclass('public.' || w.relation), w.columns, w.predicate)
    )
    select m.place, 0 as step, m.branch, m.preparation as line from made m where m.is_root
    union all
    select m.place, 1, m.branch,
      case when m.relkind = 'p' then format('create index %I on only %s %s;', m.index_name, m.table_name, m.definition)
        else format('create index concurrently %I on %s %s;', m.index_name, m.table_name, m.definition)
      end
    from made m
    union all
    select m.place, 2, m.branch,
      format('alter index %I.%I attach partition %I.%I;', p.nspname, p.index_name, m.nspname, m.index_name)
    from made m
    join made p on p.place = m.place and p.relkind = 'p' and p.branch = m.branch[:cardinality(m.branch) - 1]
  ) t;
  if remedies is not null then
    raise exception e'not wired: tables of more than 100,000 rows lack indexes\nRun these lines one by one, outside of a '
      'transaction, and then migrate again:\n%', remedies
      using errcode = 'TC001';
  end if;

  select string_agg(a.attname, ', ' order by a.attnum) into found_columns
  from pg_attribute a
  where 'push_tokens' = any (tables) and a.attrelid = to_regclass('public.push_tokens') and not a.attisdropped
    and a.attname in (
      'registered_at', 'invalidated_at', 'environment', 'app', 'invalidation_reason', 'locale', 'time_zone');
  if found_columns is not null then
    raise notice 'tacet: public.push_tokens has % already, and Tacet reads and writes them; if they mean something else than in '
      'db/CONTRACT.md, rename them or keep devices elsewhere (tacet init)', found_columns;
  end if;

  -- last_seen: the user was looking at the conversation then. tacet_left_at: the user's client reported that it left, which ends
  -- the presence. registered_at: when the app last handed the token over; an APNs answer about an earlier time must not drop it.
  -- environment, app: which APNs host and which app the token is for; null is the service's default. locale: a BCP 47 language
  -- tag. time_zone: an IANA name, used for quiet hours that name none.
  --
  -- An index keeps its name unless the host has something of that name.
  for wanted in
    select s.*
    from (
      select
        w.place, w.step, 'index' as kind, w.relation, w.columns, w.predicate, w.definition,
        case when to_regclass('public.' || quote_ident(w.name)) is null then w.name else 'tacet_' || w.name end as name
      from jsonb_to_recordset(wanted_indexes) as w (
        place int, step int, relation text, columns text, predicate text, name text, definition text)
      union all
      select c.place, 2, 'column', c.relation, null, null, c.definition, c.name
      from (
        values
          (1, 'conversation_participants', 'last_seen', 'timestamptz'),
          (2, 'conversation_participants', 'tacet_left_at', 'timestamptz'),
          (3, 'push_tokens', 'registered_at', 'timestamptz not null default now()'),
          (4, 'push_tokens', 'invalidated_at', 'timestamptz'),
          (5, 'push_tokens', 'environment', 'text'),
          (6, 'push_tokens', 'app', 'text'),
          (7, 'push_tokens', 'invalidation_reason', 'text'),
          (8, 'push_tokens', 'locale', 'text'),
          (9, 'push_tokens', 'time_zone', 'text')
      ) as c (place, relation, name, definition)
    ) s
    join pg_class c on c.oid = to_regclass('public.' || s.relation) and c.relkind in ('r', 'p')
    where s.relation = any (tables)
    order by s.step, s.place
  loop
    if wanted.kind = 'column' then
      continue when exists (
        select from pg_attribute a
        where a.attrelid = to_regclass('public.' || wanted.relation) and a.attname = wanted.name and not a.attisdropped);
      execute format('alter table public.%I add column %I %s', wanted.relation, wanted.name, wanted.definition);
    else
      continue when tacet.has_index(to_regclass('public.' || wanted.relation), wanted.columns, wanted.predicate);
      if not is_creator then
        unmade := concat_ws(
          e'\n', unmade, format('create index %I on public.%I %s;', wanted.name, wanted.relation, wanted.definition));
        continue;
      end if;
      begin
        execute format('create index %I on public.%I %s', wanted.name, wanted.relation, wanted.definition);
      exception
        -- A host with its own columns chooses its own indexes.
        when undefined_column or undefined_function then
          raise notice 'tacet: the host tables differ from the default; replace the functions of the host contract (%)', sqlerrm;
          continue;
      end;
    end if;
    insert into tacet.host_additions values (wanted.relation, wanted.kind, wanted.name);
  end loop;
  -- For the triggers below.
  perform set_config('tacet.tables', array_to_string(tables, ','), false);
  if unmade is not null then
    raise notice e'tacet: role % may not create in schema public; these indexes are missing, and without them claims read whole '
      'tables:\n%', current_user, unmade;
  end if;

  -- Heartbeats rewrite rows that the index on last_seen keeps from being updated in place. With the server's defaults a fifth of
  -- the table would be dead rows before a vacuum. A host that has settings of its own keeps them.
  if exists (
    select from pg_class c
    where c.oid = to_regclass('public.conversation_participants') and c.relkind = 'r'
      and c.relname = any (tables)
      and not exists (select from unnest(c.reloptions) as o (setting) where o.setting like 'autovacuum%')
  ) then
    begin
      alter table public.conversation_participants set (
        autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
      );
      insert into tacet.host_additions values ('conversation_participants', 'storage', 'autovacuum');
    exception
      when insufficient_privilege then
        raise notice 'tacet: have conversation_participants vacuumed often, because heartbeats rewrite its rows';
    end;
  end if;
end
$$;

-- The triggers of a first installation, on the ledger, and on tables of the host that have the columns; a host with other tables makes
-- its own. They call functions/, which are applied after the migrations: until then each function does nothing.
do $$
declare
  message_columns int;
  participant_columns int;
  arguments text := '';
  has_messages boolean;
  has_profiles boolean;
  name text;
  tables constant text[] := string_to_array(current_setting('tacet.tables', true), ',');
begin
  if exists (select from tacet.migrations) then
    return;
  end if;
  select coalesce(bool_or(c.relname = 'messages'), false), coalesce(bool_or(c.relname = 'profiles'), false)
  into has_messages, has_profiles
  from pg_class c
  join pg_attribute a on a.attrelid = c.oid and a.attname = 'id' and not a.attisdropped
  where c.oid in (to_regclass('public.messages'), to_regclass('public.profiles')) and c.relkind in ('r', 'p')
    and c.relname = any (tables);

  foreach name in array
    array['note_unsent', 'space_live_activity', 'enqueue_inserted_messages', 'release_concerned', 'forget_deleted_profiles']
  loop
    execute format(
      'create or replace function tacet.%I() returns trigger language plpgsql as %L', name, 'begin return null; end');
  end loop;

  create trigger occasion_unsent after insert or update on tacet.push_log
  for each row when (new.decision in ('skipped', 'failed') and new.push_type <> 'message' and new.reason is distinct from 'shadow')
  execute function tacet.note_unsent();

  create trigger live_activity_recorded after insert or update on tacet.push_log
  for each row when (new.push_type = 'live_activity' and new.decision in ('sent', 'held'))
  execute function tacet.space_live_activity();

  select count(*) into message_columns
  from (
    values ('id', 'tacet.message_id'), ('conversation_id', 'tacet.conversation_id'), ('read_by', 'tacet.user_id[]')
  ) as t (name, type)
  join pg_class c on c.oid = to_regclass('public.messages') and c.relkind in ('r', 'p') and c.relname = any (tables)
  join pg_attribute a on a.attrelid = c.oid and a.attname = t.name and not a.attisdropped
  where a.atttypid = any (
    t.type::regtype || case t.type
      when 'bigint' then '{int,smallint}'::regtype[] when 'bigint[]' then '{int[],smallint[]}'
      when 'text' then '{varchar,bpchar}' when 'text[]' then '{varchar[],bpchar[]}'
      else '{}'
    end);
  select count(*) into participant_columns
  from pg_attribute a
  join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p') and c.relname = any (tables)
  where a.attrelid = to_regclass('public.conversation_participants') and not a.attisdropped
    and a.attname in ('conversation_id', 'user_id', 'last_seen', 'tacet_left_at');

  if message_columns = 3 then
    arguments := '''conversation_id''';
    if exists (
      select from pg_attribute a
      where a.attrelid = to_regclass('public.messages') and a.attname = 'created_at' and not a.attisdropped
        and a.atttypid = 'timestamptz'::regtype
    ) then
      arguments := '''conversation_id'', ''created_at''';
    end if;
    create or replace trigger tacet_message_read
    after update on public.messages
    referencing old table as previous new table as changed
    for each statement execute function tacet.release_concerned('read');

    create or replace trigger tacet_message_deleted
    after delete on public.messages
    referencing old table as previous
    for each statement execute function tacet.release_concerned('deleted');
  end if;
  if has_messages then
    execute format(
      'create or replace trigger tacet_message_inserted after insert on public.messages referencing new table as inserted '
      'for each statement execute function tacet.enqueue_inserted_messages(%s)', arguments);
  else
    raise notice 'tacet: make the trigger tacet_message_inserted on the table of your messages (db/CONTRACT.md)';
  end if;

  if participant_columns = 4 then
    create or replace trigger tacet_conversation_seen
    after update on public.conversation_participants
    referencing old table as previous new table as changed
    for each statement execute function tacet.release_concerned('seen');

    create or replace trigger tacet_conversation_left
    after delete on public.conversation_participants
    referencing old table as previous
    for each statement execute function tacet.release_concerned('left');
  end if;
  if message_columns < 3 or participant_columns < 4 then
    raise notice 'tacet: the host tables differ from the default; call tacet.release_holds from triggers of your own '
      '(db/CONTRACT.md)';
  end if;

  if has_profiles then
    create or replace trigger tacet_profile_deleted
    after delete on public.profiles
    referencing old table as deleted
    for each statement execute function tacet.forget_deleted_profiles();
  else
    raise notice 'tacet: make the trigger tacet_profile_deleted on the table of your users, or call tacet.forget_user '
      '(db/CONTRACT.md)';
  end if;
end
$$;

-- A view public.push_log shows the ledger where the host's readers look for it.
--
-- It has security_invoker: its readers need the table's privileges too, and get the rows that the table's policies show them.
-- They need no right on schema tacet. Default privileges of schema public, as Supabase has them, would open it to others.
--
-- The view is left out, with a notice, where the role may not create in schema public, where the host has a public.push_log of
-- its own, and on PostgreSQL 14, which has no security_invoker.
do $$
declare
  lines text;
  reason text;
begin
  if exists (select from tacet.migrations) then
    return;
  end if;
  select concat_ws(e'\n',
    'create view public.push_log with (security_invoker = true) as select * from tacet.push_log;',
    'comment on view public.push_log is ''Created by tacet migrate.'';',
    'revoke all on public.push_log from public;',
    format('grant select on public.push_log to %I;', current_user),
    string_agg(
      format('revoke all on public.push_log from %I;', r.rolname), e'\n' order by r.rolname
    ) filter (where r.rolname in ('anon', 'authenticated')),
    string_agg(
      format('grant select on public.push_log to %I;', r.rolname), e'\n' order by r.rolname
    ) filter (where r.rolname in ('authenticated', 'service_role')))
  into lines
  from pg_roles r;

  reason := case
    when to_regclass('public.push_log') is not null then
      'public.push_log is the host''s'
    when current_setting('server_version_num')::int < 150000 then
      'PostgreSQL 14 has no views that show each reader''s own rows'
    when not coalesce((
      select has_schema_privilege(n.oid, 'create') from pg_namespace n where n.nspname = 'public'), false)
    then
      format(e'role %s may not create in schema public\nAs a role that may, if users or dashboards read the ledger:\n%s',
        current_user, lines)
  end;
  if reason is null then
    execute lines;
  else
    raise notice 'tacet: the ledger is tacet.push_log; there is no view public.push_log, because %', reason;
  end if;
end
$$;

insert into tacet.migrations (version, name) values (1, '0001_baseline') on conflict do nothing;

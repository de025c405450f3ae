-- Events for the host: what happens to pushes, and pushes that nobody looks at.
--
-- Locks: none but on the new tables. An older service works beside it and sends no events; the triggers of tacet.announce note what
-- it records, and a newer one sends that.

set client_min_messages = warning;

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
-- due_at: when it may be tried next, or when the claim ends. first_tried_at, attempts: since it was last made to wait. webhook_id:
-- the same in each attempt. reason: of the ledger, of the drop, or why it was cancelled. status, error: of the last attempt.
-- channel, device: of a dropped device, whose address is cut.
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
create index if not exists host_events_user_idx on tacet.host_events (user_id);
create index if not exists host_events_ended_idx on tacet.host_events (ended_at) where ended_at is not null;
create index if not exists host_events_dead_idx on tacet.host_events (ended_at) where state = 'dead';
create unique index if not exists host_events_unread_idx on tacet.host_events (log_id) where type = 'push.unread';

insert into tacet.migrations (version, name) values (43, '0043_host_events') on conflict do nothing;

reset client_min_messages;

-- Schema tacet: the inbox that the host's own transaction writes, the work that remains, and the ledger.
--
-- Locks: only new objects. A running older service is not affected.

comment on schema tacet is 'Push notifications: inbox, remaining deliveries, host contract. Owned by the Tacet service.';

-- Which migration files have been applied; each file adds itself, so applying them by psql counts too.
create table if not exists tacet.migrations (
  applied_at timestamptz not null default now(),
  version int primary key,
  name text not null
);

-- One row of settings that triggers read. The secret is readable by the owner alone.
create table if not exists tacet.settings (
  is_only_row boolean primary key default true check (is_only_row),
  notify_enabled boolean not null default true,
  webhook_url text,
  webhook_secret text
);

comment on column tacet.settings.notify_enabled is
  'false for a host that uses PREPARE TRANSACTION, which refuses transactions that have notified';
comment on column tacet.settings.webhook_url is
  'where triggers post a signed webhook when pg_net is installed; null posts nothing';
comment on column tacet.settings.webhook_secret is
  'the service''s WEBHOOK_SECRET: whsec_<base64>, or plain text';

insert into tacet.settings default values on conflict do nothing;

-- An event that nobody has decided yet. Written in the transaction of the event itself; it leaves in the transaction
-- that records its outcome. A claim moves available_at into the future: that is the lease.
create table if not exists tacet.inbox (
  available_at timestamptz not null default clock_timestamp(),
  enqueued_at timestamptz not null default clock_timestamp(),
  attempts int not null default 0,
  subject_id uuid not null,
  kind text not null,
  primary key (subject_id, kind)
);

create index if not exists inbox_available_idx on tacet.inbox (available_at);

-- What remains to be done for one recipient of a decided event: a hold to look at again, or a retry.
-- accepted_devices: the device tokens that already have this push; a retry leaves them alone.
create table if not exists tacet.deliveries (
  due_at timestamptz not null,
  enqueued_at timestamptz not null,
  attempts int not null default 0,
  subject_id uuid not null,
  user_id uuid not null,
  kind text not null,
  state text not null check (state in ('held', 'retryable')),
  accepted_devices text[] not null default '{}',
  primary key (subject_id, user_id, kind)
);

create index if not exists deliveries_due_idx on tacet.deliveries (due_at);

-- These tables are rewritten all the time and small: vacuum them by count, not by share.
alter table tacet.inbox set (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000
);
alter table tacet.deliveries set (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_scale_factor = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000
);

-- Errors that a trigger swallowed, so that the host's insert went through.
create table if not exists tacet.trigger_failures (
  failed_at timestamptz not null default clock_timestamp(),
  sqlstate text not null,
  message text not null
);

-- The ledger: one row per event and recipient, and what became of it.
--
-- decision: sent, held, skipped, failed. content: only of pushes we wrote ourselves, never message text.
-- woken_microseconds: from the wake-up to the claim; decided_ and accepted_microseconds: from the claim to then.
create table if not exists public.push_log (
  enqueued_at timestamptz not null default now(),
  claimed_at timestamptz,
  held_until timestamptz,
  sent_at timestamptz,
  woken_microseconds int,
  decided_microseconds int,
  accepted_microseconds int,
  devices_accepted smallint not null default 0,
  attempts smallint not null default 1,
  opened boolean not null default false,
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null,
  subject_id uuid,
  push_type text not null,
  decision text not null check (decision in ('sent', 'held', 'skipped', 'failed')),
  reason text,
  woken_by text,
  content text,
  metadata jsonb not null default '{}'
);

create unique index if not exists push_log_subject_idx on public.push_log (subject_id, user_id, push_type);
create index if not exists push_log_user_idx on public.push_log (user_id, sent_at desc);

alter table public.push_log enable row level security;

-- On Supabase a user may read their own rows. Nobody but the owner writes.
do $$
begin
  if to_regprocedure('auth.uid()') is not null and not exists (
    select from pg_policies where schemaname = 'public' and tablename = 'push_log' and policyname = 'push_log_own_rows'
  ) then
    create policy push_log_own_rows on public.push_log for select using (user_id = auth.uid());
  end if;
end
$$;

revoke all on schema tacet from public;

insert into tacet.migrations (version, name)
values (1, '0001_host_tables'), (2, '0002_tacet_schema')
on conflict do nothing;

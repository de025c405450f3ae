-- When users were last active, and their sessions.
--
-- Locks: none but on the new tables. An older service works beside it and notes no activity.

set client_min_messages = warning;

-- When a user's last sign of activity was written. session_began_at: the first sign of the session that it belongs to.
-- re_engagement_attempts: pushes since then that asked the user to come back.
create table if not exists tacet.activity (
  last_active timestamptz not null,
  session_began_at timestamptz not null,
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

insert into tacet.migrations (version, name) values (37, '0037_activity') on conflict do nothing;

reset client_min_messages;

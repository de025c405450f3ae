-- How engaged users were, once every 72 hours.
--
-- Locks: none but on the new table. An older service works beside it and analyses nothing.

set client_min_messages = warning;

-- Users by class at period_end, and their sessions that began in the period; see tacet.analyse_engagement.
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

insert into tacet.migrations (version, name) values (39, '0039_engagement_analyses') on conflict do nothing;

reset client_min_messages;

-- Everything that `tacet migrate` applies, for psql: psql -X -f db/install.sql
--
-- One transaction. With -v host_tables=1 the tables of the default host contract that are missing are created too.
-- Applied again it changes nothing, except that functions get the bodies of these files.

\set ON_ERROR_STOP on
begin;
-- The host's inserts wait as long as this transaction waits for a lock. On a timeout, run it again.
set local lock_timeout = '2s';
do $$
begin
  perform pg_advisory_xact_lock(1952539493, 2);
end
$$;

\if :{?host_tables}
\ir host/host_tables.sql
\endif
\ir migrations/0027_host_tables.sql
\ir migrations/0028_host_triggers.sql
\ir migrations/0029_tacet_schema.sql
\ir migrations/0030_tacet_features.sql
\ir migrations/0031_push_content.sql
\ir migrations/0032_cap_groups.sql
\ir migrations/0033_versions.sql
\ir functions/applying.sql
\ir functions/bounds.sql
\ir functions/campaign_audience.sql
\ir functions/campaign_decisions.sql
\ir functions/campaign_hours.sql
\ir functions/civil_time.sql
\ir functions/contract_campaigns.sql
\ir functions/contract_devices.sql
\ir functions/contract_messages.sql
\ir functions/contract_preferences.sql
\ir functions/contract_presence.sql
\ir functions/erasure.sql
\ir functions/holds.sql
\ir functions/kind_campaign_push.sql
\ir functions/kind_read_sync.sql
\ir functions/kind_service_push.sql
\ir functions/kind_watched_row.sql
\ir functions/kinds.sql
\ir functions/message_trigger.sql
\ir functions/model_usage.sql
\ir functions/presence.sql
\ir functions/reading.sql
\ir functions/rehearsal.sql
\ir functions/rights.sql
\ir functions/trigger_failures.sql
\ir functions/wake.sql
\ir functions/watch.sql

-- The next tacet migrate compares nothing with what it applied before this.
delete from tacet.function_files;
call tacet.finish_applying();
commit;

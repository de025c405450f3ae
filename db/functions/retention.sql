-- Which rows are deleted when they are old.

-- Tables whose rows are kept for a time and then deleted.
--
-- moment: from when on a row is old. ordered_by: the index's expression that finds the oldest first; null where an index on the
-- moment would have to change with every look, sound or fetch, so that each batch reads the table from its beginning (a tenth of a
-- second for a million rows). condition: what else must hold of a row; $1 is the retention. needed_for: rows are kept as long as this,
-- however short the retention is.
create or replace function tacet.retentions()
returns table (name text, moment text, ordered_by text, condition text, needed_for interval)
language sql immutable
as $$
  values
    -- What is held is work that remains.
    ('push_log', 'enqueued_at', 'enqueued_at', 'decision <> ''held''', interval '0'),
    ('parked', 'parked_at', 'parked_at', 'true', '0'),
    -- Events that are not in the inbox yet are found in these rows.
    ('trigger_failures', 'failed_at', 'failed_at', 'subject_ids = ''{}''', '0'),
    ('surface_views', 'greatest(last_seen, left_at)', null, 'true', '0'),
    ('read_syncs', 'available_at', 'available_at', 'true', '0'),
    -- With a push goes what makes a repeated request known.
    ('pushes', 'created_at', 'created_at', '(send_at is null or send_at < now() - $1)', '0'),
    -- A push may be cancelled as soon as it is asked for, and be sent after 31 days of waiting and 30 of life.
    ('cancellations', 'cancelled_at', 'cancelled_at', 'true', '61 days'),
    ('instances', 'seen_at', 'seen_at', 'true', '0'),
    -- Of users who get pushes the marks are renewed before.
    ('unread_marks', 'built_at', null, 'true', '0'),
    ('campaign_decisions', 'enrolled_at', 'enrolled_at', 'true', '0'),
    ('campaign_runs', 'started_at', 'started_at', 'true', '0'),
    ('campaign_slots', 'due_at', 'due_at', 'true', '0'),
    ('notif_deliveries', 'fire_at', 'fire_at', 'true', '0'),
    ('notif_events', 'received_at', 'received_at', 'true', '0'),
    ('notif_contents', 'attempted_at', null, 'true', '0'),
    ('user_sessions', 'began_at', 'began_at', 'true', '0'),
    -- With an activity go its pushes and tokens.
    ('activities', 'ended_at', 'ended_at', 'true', '0'),
    ('activity_updates', 'created_at', 'created_at', 'true', '0'),
    -- FCM forgets a token that was not used for 270 days.
    ('targets',
      'least(dropped_at, expires_at, case when channel = ''fcm'' then registered_at + interval ''270 days'' end)',
      'dropped_at', 'true', '0'),
    ('bursts', 'sounded_at', null, 'true', '0'),
    ('host_events', 'ended_at', 'ended_at', 'true', '0'),
    ('model_texts', 'asked_at', 'asked_at', 'true', '0'),
    ('row_texts', 'asked_at', 'asked_at', 'true', '0')
$$;

-- The statement that deletes one batch of a table's rows that are older than $1, and than the table needs, and counts them. Null for
-- a table that is not pruned.
--
-- Rows that another session writes or prunes are skipped, so any number of pruners share the work. A thousand neighbouring rows
-- are some 30 pages of the ledger, which are deleted in a few milliseconds. The number is a literal: of a parameter the planner would
-- believe that it takes a tenth of the table. Without the order the planner would expect old rows wherever it begins to read.
create or replace function tacet.prune_statement(table_name text)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select format(
    'with pruned as (delete from tacet.%1$I where ctid = any (array('
      'select ctid from tacet.%1$I where %2$s < now() - greatest($1, %3$L) and %4$s %5$s limit 1000 for update skip locked)) returning 1) '
      'select count(*) from pruned',
    r.name, r.moment, r.needed_for, r.condition, 'order by ' || r.ordered_by)
  from tacet.retentions() r
  where r.name = prune_statement.table_name
$$;

-- Deletes one batch of a table's rows that are older than the retention, by the database's clock. A row of exactly that age stays.
-- Returns how many: fewer than 1000 mean that nothing, or nothing free, is left.
create or replace function tacet.prune(table_name text, retention interval)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  pruned bigint;
begin
  execute tacet.prune_statement(prune.table_name) into pruned using prune.retention;
  return pruned;
end
$$;

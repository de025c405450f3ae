-- Gives a Live Activity its next state; see tacet.update_live_activity. Returns a word.
--
--   :activity_id  text     the activity's id
--   :state        text     the whole state as JSON
--   :alert        text     an alert as JSON; null for none
--   :priority     integer  5 or 10; null for the type's
--   :relevance    text     the relevance score as a number; null for none
--
-- It waits for the disk, whatever the session does otherwise, because the caller does not ask again.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select tacet.update_live_activity(:activity_id, :state::jsonb, :alert::jsonb, :priority, :relevance::double precision)
from durable;

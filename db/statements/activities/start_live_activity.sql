-- Starts a Live Activity; see tacet.start_live_activity. Returns a word.
--
--   :activity_id  text           the activity's id
--   :user_id      tacet.user_id  the user
--   :type         text           the name of its type
--   :attributes   text           its attributes as JSON; null for the type's
--   :state        text           its first state as JSON; null for the type's
--   :alert        text           the alert as JSON; null for the type's
--   :is_pushed    boolean        whether it starts by a push; else the app has started it
--
-- It waits for the disk, whatever the session does otherwise, because the caller does not ask again.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select tacet.start_live_activity(
  :activity_id, :user_id, :type, :attributes::jsonb, :state::jsonb, :alert::jsonb, :is_pushed)
from durable;

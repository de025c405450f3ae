-- Ends a Live Activity; see tacet.end_live_activity. Returns a word.
--
--   :activity_id  text           the activity's id
--   :user_id      tacet.user_id  the user whose it is, also where an app has announced it; null for one of a server or a row
--   :state        text           the last state as JSON; null for the type's
--   :alert        text           an alert as JSON; null for none
--   :reason       text           who ended it
--   :is_pushed    boolean        false when the device has ended it
--
-- It waits for the disk, whatever the session does otherwise, because the caller does not ask again.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select tacet.end_live_activity(
  case when :user_id is null then :activity_id else tacet.live_activity_of(:activity_id, :user_id) end, :state::jsonb, :alert::jsonb,
  :reason, :is_pushed)
from durable;

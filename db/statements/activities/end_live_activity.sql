-- Ends a Live Activity; see tacet.end_live_activity. Returns a word.
--
--   :activity_id  text           the activity's id
--   :user_id      tacet.user_id  the user whose it must be; null for a server's request
--   :state        text           the last state as JSON; null for the type's
--   :alert        text           an alert as JSON; null for none
--   :reason       text           who ended it
--   :is_pushed    boolean        false when the device has ended it
--
-- It waits for the disk, whatever the session does otherwise, because the caller does not ask again.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select case
  when :user_id is null or exists (select from tacet.activities a where a.id = :activity_id and a.user_id = :user_id)
    then tacet.end_live_activity(:activity_id, :state::jsonb, :alert::jsonb, :reason, :is_pushed)
  else 'unknown'
end
from durable;

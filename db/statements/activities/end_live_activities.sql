-- Ends all of a user's Live Activities. Returns how many there were; see tacet.end_live_activities.
--
--   :user_id  tacet.user_id  the user
--
-- It waits for the disk, whatever the session does otherwise, because the caller does not ask again.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select tacet.end_live_activities(:user_id, 'server') from durable;

-- Ends a session on a browser or an Android app. Another user's target stays.
--
--   :user_id  tacet.user_id  the user
--   :channel  text           the channel
--   :address  text           the endpoint or registration token
--
-- It waits for the disk, whatever the session does otherwise, because the app does not ask again.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select tacet.remove_target(:user_id, :channel, :address) from durable;

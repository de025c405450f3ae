-- Keeps the token by which a user's Live Activity is updated; see tacet.put_activity_token. Returns whether there is one.
--
--   :activity_id   text           the activity's id
--   :user_id       tacet.user_id  the user
--   :device_token  text           the device's own token; empty for one that the app has not said
--   :token         text           the update token
--   :app           text           the app; null for unknown
--   :environment   text           the environment; null for unknown
--
-- It waits for the disk, whatever the session does otherwise, because the app does not ask again.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select tacet.put_activity_token(:activity_id, :user_id, :device_token, :token, :app, :environment)
from durable;

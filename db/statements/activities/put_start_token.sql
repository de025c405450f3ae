-- Keeps the token by which a device starts Live Activities of a type; see tacet.put_start_token. Returns whether there is the type.
--
--   :user_id       tacet.user_id  the user
--   :device_token  text           the device's own token
--   :type          text           the name of the type
--   :token         text           the push-to-start token; null when the device has none any more
--   :app           text           the app; null for unknown
--   :environment   text           the environment; null for unknown
--
-- It waits for the disk, whatever the session does otherwise, because the app does not ask again.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select tacet.put_start_token(:user_id, :device_token, :type, :token, :app, :environment)
from durable;

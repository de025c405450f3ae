-- Ends a session on a device. Returns false when the token is another user's.
--
--   :user_id       tacet.user_id  the user
--   :device_token  text           the device token
--
-- It waits for the disk, whatever the session does otherwise, because the app does not ask again.

with durable as materialized (select set_config('synchronous_commit', 'on', true)), forgotten as (
  delete from tacet.device_permissions p where p.device_token = :device_token and p.user_id = :user_id
), unwished as (
  delete from tacet.target_wishes w where w.address = :device_token and w.channel = 'apns' and w.user_id = :user_id
)
select tacet.remove_device(:user_id, :device_token), tacet.leave_device(array[:user_id], :device_token) from durable;

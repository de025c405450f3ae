-- Registers a device. Returns whether its time zone is known; it is registered without one that is not.
--
--   :user_id       tacet.user_id  the user
--   :device_token  text           the device token
--   :environment   text           the environment; null for unknown
--   :app           text           the app; null for unknown
--   :platform      text           the platform; null for unknown
--   :locale        text           the locale; null for unknown
--   :time_zone     text           the time zone; null for unknown
--   :auth_status   text           what the app may show: authorized, provisional, denied or not_determined; null for unknown
--   :wishes        text           what it says of content and language, a JSON object
--   :devices_max   integer        devices that the user keeps
--
-- It waits for the disk, whatever the session does otherwise, because the app does not ask again.

with durable as materialized (select set_config('synchronous_commit', 'on', true)), zone as materialized (
  select tacet.known_zone(:time_zone) as known
), former as materialized (
  select array_agg(o.user_id) as user_ids
  from tacet.device_token_owners(lower(:device_token), 50) o
  where lower(o.device_token) = lower(:device_token) and o.user_id <> :user_id
), registered as materialized (
  select tacet.register_device(:user_id, :device_token, :environment, :app, :platform, :locale, z.known,
    :devices_max), tacet.authorize_device(:user_id, :device_token, :auth_status),
    tacet.keep_wishes(:user_id, 'apns', :device_token, :wishes), tacet.leave_device(former.user_ids, :device_token)
  from durable
  cross join former
  cross join zone z
)
select z.known is not null or :time_zone::text is null from registered cross join zone z;

-- Devices and other targets of a user.

-- name: register_device
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

-- name: remove_device
-- Ends a session on a device. Returns false when the token is another user's.
--
--   :user_id       tacet.user_id  the user
--   :device_token  text           the device token

with durable as materialized (select set_config('synchronous_commit', 'on', true)), forgotten as (
  delete from tacet.device_permissions p where p.device_token = :device_token and p.user_id = :user_id
), unwished as (
  delete from tacet.target_wishes w where w.address = :device_token and w.channel = 'apns' and w.user_id = :user_id
)
select tacet.remove_device(:user_id, :device_token), tacet.leave_device(array[:user_id], :device_token) from durable;

-- name: register_target
-- Registers a browser or an Android app. knows_zone: whether its time zone is known; it is registered without one that is not.
-- is_ended: whether it is a browser's subscription that never works again, so that nothing was registered: its push service has
-- called it gone, or it was made with another key of this service.
--
--   :user_id       tacet.user_id  the user
--   :channel       text           the channel
--   :address       text           the endpoint or registration token
--   :app           text           the app; null for unknown
--   :keys          text           what the channel needs beside the address; null for nothing
--   :locale        text           the locale; null for unknown
--   :time_zone     text           the time zone; null for unknown
--   :fetch_digest  text           SHA-256 of the token of its worker, in hexadecimal; null for none
--   :expires_us    bigint         when it ends, since 1970; null for never
--   :targets_max   integer        targets of the channel that the user keeps

with durable as materialized (select set_config('synchronous_commit', 'on', true)), facts as materialized (
  select
    tacet.known_zone(:time_zone) as known_zone,
    exists (
      select from tacet.targets t
      -- A subscription, which alone has a worker, never lives again.
      where t.channel = :channel and :fetch_digest::text is not null and t.address = :address
        and (t.drop_reason not in ('too_many', 'logged_out', 'replaced')
          or t.keys::json ->> 'key' <> :keys::json ->> 'key')
    ) as is_ended
), registered as materialized (
  select tacet.register_target(
    :user_id, :channel, :address, :app, :keys, :locale, f.known_zone, :fetch_digest,
    timestamptz 'epoch' + :expires_us * interval '1 microsecond', :targets_max)
  from durable
  cross join facts f
  where not f.is_ended
)
select f.is_ended, f.known_zone is not null or :time_zone::text is null as knows_zone, (select count(*) from registered)
from facts f;

-- name: renew_target
-- Registers the subscription by which a browser has replaced one. Returns false for an unknown browser.
--
--   :fetch_digest  text     SHA-256 of the token of the replaced one's worker, in hexadecimal
--   :address       text     the new endpoint
--   :keys          text     its keys
--   :next_digest   text     SHA-256 of its worker's token
--   :expires_us    bigint   when it ends, since 1970; null for never
--   :targets_max   integer  targets of the channel that the user keeps

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select tacet.renew_target(
  :fetch_digest, :address, :keys, :next_digest, timestamptz 'epoch' + :expires_us * interval '1 microsecond', :targets_max)
from durable;

-- name: targets_of_user
-- Returns a user's devices, by the host contract, 50 at most.
--
--   :user_id  tacet.user_id  the user

select t.channel, left(t.address, 1024) as address, t.environment, t.app, left(t.keys, 4096) as keys
from tacet.push_targets(:user_id) t
limit 50;

-- name: remove_target
-- Ends a session on a browser or an Android app. Another user's target stays.
--
--   :user_id  tacet.user_id  the user
--   :channel  text           the channel
--   :address  text           the endpoint or registration token

with durable as materialized (select set_config('synchronous_commit', 'on', true))
update tacet.targets t
set dropped_at = now(), drop_reason = 'logged_out', fetch_digest = null, keys = null
from durable
where t.channel = :channel and t.address = :address and t.user_id = :user_id and t.dropped_at is null;

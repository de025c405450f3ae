-- Devices and other targets of a user.

-- name: register_device(
--   user_id tacet.user_id, device_token text, environment text, app text, platform text, locale text, time_zone text,
--   auth_status text, wishes text, devices_max integer)
-- Registers a device. Returns whether its time zone is known; it is registered without one that is not.
--
-- What is unknown is null. auth_status: what the app may show: authorized, provisional, denied or not_determined. wishes: what it says
-- of content and language, a JSON object. devices_max: devices that the user keeps.

with durable as materialized (select set_config('synchronous_commit', 'on', true)), zone as materialized (
  select tacet.known_zone(:time_zone) as known
), former as materialized (
  select array_agg(o.user_id) as user_ids
  from tacet.device_token_owners(lower(:device_token), 50) o
  where lower(o.device_token) = lower(:device_token) and o.user_id <> :user_id
), registered as materialized (
  select tacet.register_device(:user_id, :device_token, :environment, :app, :platform, :locale, z.known,
    :devices_max),
    case when :auth_status in ('authorized', 'provisional', 'denied')
      then tacet.note_device_permission(:user_id, :device_token, :auth_status = 'denied', null, clock_timestamp())
    end,
    tacet.keep_wishes(:user_id, 'apns', :device_token, :wishes), tacet.leave_device(former.user_ids, :device_token)
  from durable
  cross join former
  cross join zone z
)
select z.known is not null or :time_zone::text is null from registered cross join zone z;

-- name: remove_device(user_id tacet.user_id, device_token text)
-- Ends a session on a device. Returns false when the token is another user's.

with durable as materialized (select set_config('synchronous_commit', 'on', true)), forgotten as (
  delete from tacet.device_permissions p where p.device_token = :device_token and p.user_id = :user_id
), unwished as (
  delete from tacet.target_wishes w where w.address = :device_token and w.channel = 'apns' and w.user_id = :user_id
)
select tacet.remove_device(:user_id, :device_token), tacet.leave_device(array[:user_id], :device_token) from durable;

-- name: register_target(
--   user_id tacet.user_id, channel text, address text, app text, keys text, locale text, time_zone text, fetch_digest text,
--   expires_us bigint, targets_max integer)
-- Registers a browser or an Android app. knows_zone: whether its time zone is known; it is registered without one that is not.
-- is_ended: whether it is a browser's subscription that never works again, so that nothing was registered: its push service has
-- called it gone, or it was made with another key of this service.
--
-- address: the endpoint or registration token. app: null for unknown. keys: what the channel needs beside the address; null for
-- nothing. locale: null for unknown. time_zone: null for unknown. fetch_digest: SHA-256 of the token of its worker, in hexadecimal;
-- null for none. expires_us: when it ends; null for never. targets_max: targets of the channel that the user keeps.

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

-- name: renew_target(fetch_digest text, address text, keys text, next_digest text, expires_us bigint, targets_max integer)
-- Registers the subscription by which a browser has replaced one. Returns false for an unknown browser.
--
-- fetch_digest: SHA-256 of the token of the replaced one's worker, in hexadecimal. address: the new endpoint. next_digest: SHA-256
-- of its worker's token. expires_us: when it ends; null for never. targets_max: targets of the channel that the user
-- keeps.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select tacet.renew_target(
  :fetch_digest, :address, :keys, :next_digest, timestamptz 'epoch' + :expires_us * interval '1 microsecond', :targets_max)
from durable;

-- name: targets_of_user(user_id tacet.user_id)
-- Returns a user's devices, by the host contract, 50 at most.

select t.channel, left(t.address, 1024) as address, t.environment, t.app, left(t.keys, 4096) as keys
from tacet.push_targets(:user_id) t
limit 50;

-- name: remove_target(user_id tacet.user_id, channel text, address text)
-- Ends a session on a browser or an Android app. Another user's target stays.
--
-- address: the endpoint or registration token.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
update tacet.targets t
set dropped_at = now(), drop_reason = 'logged_out', fetch_digest = null, keys = null
from durable
where t.channel = :channel and t.address = :address and t.user_id = :user_id and t.dropped_at is null;

-- Registers a browser or an Android app, unless the time zone is unknown. Returns whether it did.
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
--
-- It waits for the disk, whatever the session does otherwise, because the app does not ask again.

with durable as materialized (select set_config('synchronous_commit', 'on', true)), registered as materialized (
  select tacet.register_target(
    :user_id, :channel, :address, :app, :keys, :locale, zone.known, :fetch_digest,
    timestamptz 'epoch' + :expires_us * interval '1 microsecond', :targets_max)
  from durable
  cross join (select tacet.known_zone(:time_zone) as known offset 0) zone
  where :time_zone::text is null or zone.known is not null
)
select count(*) = 1 from registered;

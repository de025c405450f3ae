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
--
-- It waits for the disk, whatever the session does otherwise, because the app does not ask again.

with durable as materialized (select set_config('synchronous_commit', 'on', true)), facts as materialized (
  select
    tacet.known_zone(:time_zone) as known_zone,
    exists (
      select
      from tacet.targets t
      where t.channel = :channel and t.channel = 'web_push' and t.address = :address
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

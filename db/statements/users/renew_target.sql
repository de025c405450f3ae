-- Registers the subscription by which a browser has replaced one. Returns false for an unknown browser.
--
--   :fetch_digest  text     SHA-256 of the token of the replaced one's worker, in hexadecimal
--   :address       text     the new endpoint
--   :keys          text     its keys
--   :next_digest   text     SHA-256 of its worker's token
--   :expires_us    bigint   when it ends, since 1970; null for never
--   :targets_max   integer  targets of the channel that the user keeps
--
-- It waits for the disk, whatever the session does otherwise, because the browser does not ask again.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select tacet.renew_target(
  :fetch_digest, :address, :keys, :next_digest, timestamptz 'epoch' + :expires_us * interval '1 microsecond', :targets_max)
from durable;

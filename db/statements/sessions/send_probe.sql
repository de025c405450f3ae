-- Sends what a listener must hear: a token on a channel of that listener, from another session. It waits for the disk,
-- as the host's commits do, so that it takes as long as their notifies.
--
--   :channel  text  the channel
--   :token    text  the token

select set_config('synchronous_commit', 'on', true), pg_notify(:channel, :token);

-- Keeps the id that Apple has given a channel. Returns whether the channel waited for it.
--
--   :channel     text  the channel's name
--   :channel_id  text  Apple's id
--
-- It waits for the disk, whatever the session does otherwise, because Apple does not say the id again.

with durable as materialized (select set_config('synchronous_commit', 'on', true)), completed as (
  update tacet.activity_channels c
  set channel_id = :channel_id
  from durable
  where c.id = :channel and c.channel_id is null
  returning 1
)
select count(*) = 1 from completed;

-- Forgets a channel and its stream. Returns whether there was one.
--
--   :channel  text  the channel's name

with dropped as (delete from tacet.activity_channels c where c.id = :channel returning 1)
select count(*) = 1 from dropped;

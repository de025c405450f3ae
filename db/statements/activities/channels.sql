-- Returns channels in the order of their names.
--
--   :channel       text     the only one; null for all
--   :channels_max  integer  channels at most

select
  c.id, c.channel_id, c.app, c.environment, c.storage::int as storage, c.gone_because, a.type, a.version, a.ended_at is not null as is_ended,
  a.state::text as state
from tacet.activity_channels c
join tacet.activities a on a.id = c.id and a.channel = c.id
where :channel::text is null or c.id = :channel
order by c.id
limit :channels_max;

-- Returns the broadcast channels, with empty texts for the default app and its environment. `is_undecided` says that Apple was asked to
-- make one more than a minute ago, and that nobody knows whether it did.
--
--   :rows_max  bigint  rows at most

select
  c.id, coalesce(c.app, '') as app, coalesce(c.environment, '') as environment, c.channel_id, c.gone_because,
  c.channel_id is null and c.created_at < clock_timestamp() - interval '1 min' as is_undecided
from tacet.activity_channels c
order by c.id
limit :rows_max;

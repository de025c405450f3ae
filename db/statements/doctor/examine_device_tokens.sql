-- Counts device tokens by app and environment, in the table of the default host contract; the first 200000 of them.

select coalesce(t.app, '') as app, coalesce(t.environment, '') as environment, count(*) as tokens
from (
  select p.app, p.environment, p.invalidated_at, p.platform
  from public.push_tokens p
  limit 20 * 10000
) t
where t.invalidated_at is null
  and lower(t.platform) in ('ios', 'ipados', 'macos', 'watchos', 'tvos', 'visionos', 'apns')
group by 1, 2
order by 3 desc, 1, 2
limit 200;

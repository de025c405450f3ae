-- Returns lanes for which pushes wait, 50 at most: how many, up to 10001, the age of the oldest, and why that one
-- waits. The index is entered once for each lane, however many wait there.

with recursive lane_names as (
  (select d.lane from tacet.deliveries d where d.state = 'waiting' order by d.lane limit 1)
  union all
  select (
    select d.lane from tacet.deliveries d where d.state = 'waiting' and d.lane > n.lane order by d.lane limit 1
  )
  from lane_names n
  where n.lane is not null
)
select n.lane, c.waiting, tacet.unix_us(now()) - tacet.unix_us(o.enqueued_at) as oldest_us, l.reason
from (select x.lane from lane_names x where x.lane is not null limit 50) n
cross join lateral (
  select count(*) as waiting
  from (
    select from tacet.deliveries d where d.state = 'waiting' and d.lane = n.lane limit 10001
  ) w
) c
cross join lateral (
  select d.subject_id, d.user_id, d.kind, d.enqueued_at
  from tacet.deliveries d
  where d.state = 'waiting' and d.lane = n.lane
  order by d.enqueued_at
  limit 1
) o
left join tacet.push_log l on l.subject_id = o.subject_id and l.user_id = o.user_id and l.push_type = o.kind;

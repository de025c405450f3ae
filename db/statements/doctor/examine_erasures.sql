-- Returns how many deleted users are not erased ten minutes later, and how long ago the first was deleted, in
-- microseconds.

select count(*) as users, (extract(epoch from clock_timestamp() - min(o.asked_at)) * 1000000)::bigint as age
from (
  select e.asked_at
  from tacet.erasures e
  where not e.is_clean and e.asked_at < clock_timestamp() - interval '10 min'
  order by e.due_at
  limit 10000
) o;

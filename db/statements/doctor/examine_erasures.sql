-- Returns how many deleted users are not erased ten minutes later, and how long ago the first was deleted, in
-- microseconds.

select count(*) as users, tacet.unix_us(clock_timestamp()) - tacet.unix_us(min(o.asked_at)) as age
from (
  select e.asked_at
  from tacet.erasures e
  where not e.is_clean and e.asked_at < clock_timestamp() - interval '10 min'
  order by e.due_at
  limit 10000
) o;

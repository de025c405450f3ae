-- Counts device tokens like examine_device_tokens, by the host's own function, for the users who were pushed to last.

select coalesce(d.app, '') as app, coalesce(d.environment, '') as environment, count(*) as tokens
from (
  select distinct l.user_id
  from (select x.user_id from tacet.push_log x order by x.enqueued_at desc limit 1000) l
) u
cross join lateral tacet.device_tokens(u.user_id) d
group by 1, 2
order by 3 desc, 1, 2
limit 200;

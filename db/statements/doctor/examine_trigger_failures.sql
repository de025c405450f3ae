-- Returns errors that triggers swallowed during the last day, by SQLSTATE and kind. Their texts may quote rows.

select f.sqlstate, f.kind, count(*) as failures,
  tacet.unix_us(clock_timestamp()) - tacet.unix_us(max(f.failed_at)) as age
from (
  select t.sqlstate, t.kind, t.failed_at
  from tacet.trigger_failures t
  where t.failed_at > clock_timestamp() - interval '1 day'
  order by t.failed_at desc
  limit 10000
) f
group by 1, 2
order by 4
limit 20;

-- Returns processes of the service that were seen in the last minute (ServiceInstance.silentFrom) and have not stopped,
-- 50 at most.

select
  i.host, i.pid::bigint as pid, i.version, tacet.unix_us(i.started_at) as started_us,
  tacet.unix_us(now()) - tacet.unix_us(i.seen_at) as seen_age_us
from tacet.instances i
where i.stopped_at is null and i.seen_at > now() - 60 * interval '1 second'
order by i.seen_at desc
limit 50;

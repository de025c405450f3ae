-- Returns the processes that have started and not stopped, the last seen first.

select i.id, i.host, i.version, tacet.unix_us(clock_timestamp()) - tacet.unix_us(i.seen_at) as age
from tacet.instances i
where i.stopped_at is null
order by i.seen_at desc
limit 20;

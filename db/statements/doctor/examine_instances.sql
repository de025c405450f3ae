-- Returns the processes that have started and not stopped, the last seen first.

select i.id, i.host, i.version, (extract(epoch from clock_timestamp() - i.seen_at) * 1000000)::bigint as age
from tacet.instances i
where i.stopped_at is null
order by i.seen_at desc
limit 20;

-- Returns the processes of the service that have not said on a machine that they end: their numbers, and whether they have given a
-- sign of life in the last minute, as those may that have ended.
--
--   :host  text  the machine's name

select i.pid, i.seen_at > clock_timestamp() - interval '1 minute' as is_recent
from tacet.instances i
where i.host = :host and (i.stopped_at is null or i.seen_at > clock_timestamp() - interval '1 minute')
order by i.seen_at desc;

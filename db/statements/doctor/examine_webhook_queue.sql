-- Returns how many requests wait in the queue of pg_net, up to 1000, and the number of the first.
--
-- Runs only where examine_webhook has found that table.

select count(*) as requests, min(q.id)::bigint as first
from (select r.id from net.http_request_queue r order by r.id limit 1000) q;

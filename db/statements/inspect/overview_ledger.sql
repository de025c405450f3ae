-- Summarises the last hour of the ledger, or as much of it as its newest 20000 rows cover: a tenth of a second, however
-- many rows there are (measured with 1.5 million).
--
-- Returns rows of three levels: 3, all together; 1, one for each of the 60 slices that is not empty, counted from now
-- back; 2, one for each decision and reason. Times are in microseconds. The latency is from the commit to the
-- acceptance by APNs, of pushes that were sent at the first claim: a hold is no delay.
--
-- About all overview_… statements: nothing may grow with the ledger. Each table is read from one end of an index, up to
-- a limit, which is a literal so that the planner knows it.

with newest as materialized (
  select
    l.decision, l.reason,
    greatest(0, tacet.unix_us(now()) - tacet.unix_us(l.enqueued_at)) as age_us,
    case when l.decision = 'sent' and l.attempts = 1
      then tacet.unix_us(l.sent_at) - tacet.unix_us(l.enqueued_at)
    end as latency_us
  from tacet.push_log l
  where l.enqueued_at > now() - interval '1 hour'
  order by l.enqueued_at desc
  limit 20000
), reach as materialized (
  select greatest(60, case when count(*) < 20000 then 3600000000 else max(n.age_us) end) as us
  from newest n
), placed as materialized (
  select n.*, least(59, n.age_us / (r.us / 60)) as slice
  from newest n cross join reach r
)
select
  (select r.us from reach r) as span_us, grouping(p.slice, p.decision)::bigint as level, p.slice, p.decision, p.reason,
  count(*) filter (where p.decision = 'sent') as sent, count(*) filter (where p.decision = 'held') as held,
  count(*) filter (where p.decision = 'skipped') as skipped,
  count(*) filter (where p.decision = 'failed') as failed,
  percentile_disc(0.5) within group (order by p.latency_us) as median_us,
  percentile_disc(0.99) within group (order by p.latency_us) as percentile99_us,
  count(*) filter (where p.decision = 'sent' and p.age_us < 60000000) as sent_last_minute,
  percentile_disc(0.5) within group (order by p.latency_us) filter (where p.age_us < 60000000)
    as median_last_minute_us,
  percentile_disc(0.99) within group (order by p.latency_us) filter (where p.age_us < 60000000)
    as percentile99_last_minute_us
from placed p
group by grouping sets ((), (p.slice), (p.decision, p.reason));

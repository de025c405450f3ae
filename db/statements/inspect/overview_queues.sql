-- Counts what waits, each queue up to 10000; one more means that there are more.
--
-- Returns one row: events of the inbox and the age of the oldest, holds and the time until the first ends, retries and
-- the time until the first is due, whether there are more of the two, and what is parked.

with events as materialized (
  (
    select i.enqueued_at
    from tacet.inbox i
    where not i.is_claimed and (i.available_at <= now() or i.attempts > 0)
    order by i.available_at
    limit 10001
  )
  union all
  (
    select i.enqueued_at
    from tacet.inbox i where i.is_claimed order by i.available_at limit 10001
  )
), work as materialized (
  select d.state, tacet.unix_us(d.due_at) - tacet.unix_us(now()) as due_us
  from tacet.deliveries d
  where d.state <> 'waiting'
  order by d.due_at
  limit 10001
), parked as materialized (
  select from tacet.parked p order by p.parked_at limit 10001
)
select
  (select count(*) from events) as inbox,
  (select tacet.unix_us(now()) - tacet.unix_us(min(e.enqueued_at)) from events e) as oldest_us,
  count(*) filter (where w.state = 'held') as holds, min(w.due_us) filter (where w.state = 'held') as next_hold_us,
  count(*) filter (where w.state = 'retryable') as retries,
  min(w.due_us) filter (where w.state = 'retryable') as next_retry_us,
  count(*) > 10000 as has_more, (select count(*) from parked) as parked
from work w;

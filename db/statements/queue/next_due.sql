-- Returns the microseconds until something becomes due by itself; null when nothing does. Deliveries that wait for a
-- lane do not.

select tacet.unix_us(least(
  (select min(i.available_at) from tacet.inbox i where not i.is_claimed),
  (select min(i.available_at) from tacet.inbox i where i.is_claimed),
  (select min(d.due_at) from tacet.deliveries d where d.state <> 'waiting')
)) - tacet.unix_us(now()) as wait;

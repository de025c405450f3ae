-- Counts what waits, and returns for how long it is overdue, in microseconds.

select
  (select count(*) from (select from tacet.inbox i limit 10000) n) as events,
  tacet.unix_us(clock_timestamp()) - tacet.unix_us(least(
    (select greatest(i.available_at, i.enqueued_at)
      from tacet.inbox i where not i.is_claimed order by i.available_at limit 1),
    (select min(i.available_at) from tacet.inbox i where i.is_claimed))) as event_overdue,
  tacet.unix_us(clock_timestamp())
    - tacet.unix_us((select min(d.due_at) from tacet.deliveries d where d.state <> 'waiting')) as delivery_overdue,
  (select count(*) from (select from tacet.deliveries d where d.state = 'waiting' limit 10000) n)
    as waiting,
  tacet.unix_us(clock_timestamp()) - tacet.unix_us((
    select min(d.enqueued_at)
    from (select w.enqueued_at from tacet.deliveries w where w.state = 'waiting'
      order by w.lane, w.enqueued_at limit 10000
    ) d
  )) as waiting_age,
  (select count(*) from (select from tacet.parked p limit 10000) n) as parked;

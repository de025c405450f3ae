-- Returns microseconds until an event for the host or a check is due; null without either.

select
  (
    extract(epoch from least(
      (select e.due_at from tacet.host_events e where e.state = 'waiting' order by e.due_at limit 1),
      (select c.due_at from tacet.unread_checks c order by c.due_at limit 1)
    ) - clock_timestamp()) * 1000000
  )::bigint;

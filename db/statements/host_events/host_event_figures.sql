-- Counts events for the host, and pushes that are looked at later.
--
--   :rows_max  bigint  where each count stops

select
  (select count(*) from (select from tacet.host_events e where e.state = 'waiting' limit :rows_max) w) as waiting,
  (
    select (extract(epoch from clock_timestamp() - min(w.occurred_at)) * 1000000)::bigint
    from (select e.occurred_at from tacet.host_events e where e.state = 'waiting' order by e.due_at limit :rows_max) w
  ) as oldest_us,
  (select count(*) from (select from tacet.host_events e where e.state = 'dead' limit :rows_max) d) as dead,
  (select count(*) from (select from tacet.unread_checks c limit :rows_max) c) as checks,
  array(select a.event from tacet.announcements a order by a.event) as announced;

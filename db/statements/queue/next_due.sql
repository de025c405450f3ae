-- Returns the microseconds until something becomes due by itself; null when nothing does. Deliveries that wait for a
-- lane do not.
--
-- The ends of leases have no index. Of those in the future the earliest of the newest 1000 rows counts. The claim of
-- everything finds the others.

select (extract(epoch from least(
  (select min(i.available_at) from tacet.inbox i where not i.is_claimed),
  (
    select min(n.leased_until)
    from (
      select i.leased_until from tacet.inbox i where i.available_at <= now() order by i.available_at desc limit 1000
    ) n
    where n.leased_until > now()
  ),
  (select min(d.due_at) from tacet.deliveries d where d.state <> 'waiting')
) - now()) * 1000000)::bigint as wait;

-- Deletes events for the host that have ended before the retention; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept

with pruned as (
  delete from tacet.host_events
  where ctid = any (array(
    select e.ctid
    from tacet.host_events e
    where e.ended_at < now() - :retention_us::bigint * interval '1 microsecond'
    order by e.ended_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

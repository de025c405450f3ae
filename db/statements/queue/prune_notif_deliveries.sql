-- Deletes rows of slots, whatever became of them; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept

with pruned as (
  delete from tacet.notif_deliveries
  where ctid = any (array(
    select r.ctid
    from tacet.notif_deliveries r
    where r.fire_at < now() - :retention_us::bigint * interval '1 microsecond'
    order by r.fire_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

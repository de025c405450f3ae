-- Deletes reads that other devices were told of, or were not within the retention; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept

with pruned as (
  delete from tacet.read_syncs
  where ctid = any (array(
    select r.ctid
    from tacet.read_syncs r
    where r.available_at < now() - :retention_us::bigint * interval '1 microsecond'
    order by r.available_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

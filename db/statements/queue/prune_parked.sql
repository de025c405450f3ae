-- Deletes parked work that was not replayed; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept

with pruned as (
  delete from tacet.parked
  where ctid = any (array(
    select r.ctid
    from tacet.parked r
    where r.parked_at < now() - :retention_us::bigint * interval '1 microsecond'
    order by r.parked_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

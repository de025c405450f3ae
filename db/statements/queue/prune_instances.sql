-- Deletes processes that have given no sign for so long; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept

with pruned as (
  delete from tacet.instances
  where ctid = any (array(
    select r.ctid
    from tacet.instances r
    where r.seen_at < now() - :retention_us::bigint * interval '1 microsecond'
    order by r.seen_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

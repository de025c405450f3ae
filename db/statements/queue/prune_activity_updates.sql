-- Deletes pushes of Live Activities that run for long; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept

with pruned as (
  delete from tacet.activity_updates
  where ctid = any (array(
    select r.ctid
    from tacet.activity_updates r
    where r.created_at < now() - :retention_us::bigint * interval '1 microsecond'
    order by r.created_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

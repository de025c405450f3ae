-- Deletes pushes of another sender that are older than the retention; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept

with pruned as (
  delete from tacet.compared_pushes
  where ctid = any (array(
    select c.ctid
    from tacet.compared_pushes c
    where c.sent_at < now() - :retention_us::bigint * interval '1 microsecond'
    order by c.sent_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

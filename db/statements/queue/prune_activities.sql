-- Deletes ended Live Activities with their pushes and tokens; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept, from the end on

with pruned as (
  delete from tacet.activities
  where ctid = any (array(
    select r.ctid
    from tacet.activities r
    where r.ended_at < now() - :retention_us::bigint * interval '1 microsecond'
    order by r.ended_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

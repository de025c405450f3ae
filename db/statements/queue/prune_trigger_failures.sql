-- Deletes old errors of the triggers; see prune_ledger. Errors whose events are not in the inbox yet stay until they
-- are.
--
--   :retention_us  bigint  how long rows are kept

with pruned as (
  delete from tacet.trigger_failures
  where ctid = any (array(
    select r.ctid
    from tacet.trigger_failures r
    where r.failed_at < now() - :retention_us::bigint * interval '1 microsecond' and r.subject_ids = '{}'
    order by r.failed_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

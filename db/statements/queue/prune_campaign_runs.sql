-- Deletes runs of campaigns; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept

with pruned as (
  delete from tacet.campaign_runs
  where ctid = any (array(
    select r.ctid
    from tacet.campaign_runs r
    where r.started_at < now() - :retention_us::bigint * interval '1 microsecond'
    order by r.started_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

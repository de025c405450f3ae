-- Deletes decisions of campaigns, also those that were never made; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept

with pruned as (
  delete from tacet.campaign_decisions
  where ctid = any (array(
    select r.ctid
    from tacet.campaign_decisions r
    where r.enrolled_at < now() - :retention_us::bigint * interval '1 microsecond'
    order by r.enrolled_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

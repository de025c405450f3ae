-- Deletes hours of campaigns that were served; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept

with pruned as (
  delete from tacet.campaign_slots
  where ctid = any (array(
    select r.ctid
    from tacet.campaign_slots r
    where r.due_at < now() - :retention_us::bigint * interval '1 microsecond'
    order by r.due_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

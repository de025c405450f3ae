-- Deletes targets that were dropped, have ended or are of FCM and forgotten by it, before the retention; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept

with pruned as (
  delete from tacet.targets
  where ctid = any (array(
    select t.ctid
    from tacet.targets t
    where least(t.dropped_at, t.expires_at, case when t.channel = 'fcm' then t.registered_at + interval '270 days' end)
      < now() - :retention_us::bigint * interval '1 microsecond'
    order by t.dropped_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

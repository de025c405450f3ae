-- Deletes sessions of users; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept

with pruned as (
  delete from tacet.user_sessions
  where ctid = any (array(
    select r.ctid
    from tacet.user_sessions r
    where r.began_at < now() - :retention_us::bigint * interval '1 microsecond'
    order by r.began_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

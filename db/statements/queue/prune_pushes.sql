-- Deletes pushes that servers asked for, and with them what makes a repeated request known; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept, from the moment of the push on

with pruned as (
  delete from tacet.pushes
  where ctid = any (array(
    select r.ctid
    from tacet.pushes r
    where r.created_at < now() - :retention_us::bigint * interval '1 microsecond'
      and (r.send_at is null or r.send_at < now() - :retention_us::bigint * interval '1 microsecond')
    order by r.created_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

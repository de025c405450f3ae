-- Deletes cancellations; see prune_ledger. Not before the latest push that they can concern.
--
--   :retention_us  bigint  how long rows are kept

with pruned as (
  delete from tacet.cancellations
  where ctid = any (array(
    select c.ctid
    from tacet.cancellations c
    where c.cancelled_at < now() - :retention_us::bigint * interval '1 microsecond'
    order by c.cancelled_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

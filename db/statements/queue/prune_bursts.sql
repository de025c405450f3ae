-- Deletes bursts of messages by their last sound; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept
--
-- Read as prune_surface_views reads its table: an index on the times would have to change with every sound.

with pruned as (
  delete from tacet.bursts
  where ctid = any (array(
    select r.ctid
    from tacet.bursts r
    where r.sounded_at < now() - :retention_us::bigint * interval '1 microsecond'
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

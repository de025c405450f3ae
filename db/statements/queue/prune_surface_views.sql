-- Deletes views that were not renewed; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept
--
-- An index on their times would have to change with every look. Without it each batch reads the table from its
-- beginning: a tenth of a second for a million rows.

with pruned as (
  delete from tacet.surface_views
  where ctid = any (array(
    select r.ctid
    from tacet.surface_views r
    where greatest(r.last_seen, r.left_at) < now() - :retention_us::bigint * interval '1 microsecond'
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

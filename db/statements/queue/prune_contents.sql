-- Deletes documents of slot campaigns for which there was no attempt within the retention; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept, from the last attempt on
--
-- An index on attempts would have to change with every fetch. Without it each batch reads the table from its beginning.

with pruned as (
  delete from tacet.notif_contents
  where ctid = any (array(
    select r.ctid
    from tacet.notif_contents r
    where r.attempted_at < now() - :retention_us::bigint * interval '1 microsecond'
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

-- Deletes finished rows of the ledger by the age of their event. What is held is work that remains, and stays.
--
--   :retention_us  bigint  how long rows are kept
--
-- The other prune_… statements follow this one, each for its table:
--
-- - A row of exactly that age stays, by the database's clock.
-- - Returns the number of rows deleted. Fewer than 1000 mean that nothing, or nothing free, is left. Rows that another
--   session writes or prunes are skipped, so any number of pruners share the work.
-- - A thousand neighbouring rows are some 30 pages of the ledger, which are deleted in a few milliseconds. The number
--   is a literal: of a parameter the planner would believe that it takes a tenth of the table.
-- - Rows are taken in the order of an index. Without the order the planner would expect old rows wherever it begins to
--   read.

with pruned as (
  delete from tacet.push_log
  where ctid = any (array(
    select r.ctid
    from tacet.push_log r
    where r.enqueued_at < now() - :retention_us::bigint * interval '1 microsecond' and r.decision <> 'held'
    order by r.enqueued_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

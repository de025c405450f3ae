-- Deletes marks of users who get no pushes any more, so that their marks are not renewed; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept

with pruned as (
  delete from tacet.unread_marks
  where ctid = any (array(
    select r.ctid
    from tacet.unread_marks r
    where r.built_at < now() - :retention_us::bigint * interval '1 microsecond'
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

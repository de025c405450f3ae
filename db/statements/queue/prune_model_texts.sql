-- Deletes texts of language models; see prune_ledger.
--
--   :retention_us  bigint  how long rows are kept

with pruned as (
  delete from tacet.model_texts
  where ctid = any (array(
    select r.ctid
    from tacet.model_texts r
    where r.asked_at < now() - :retention_us::bigint * interval '1 microsecond'
    order by r.asked_at
    limit 1000
    for update skip locked
  ))
  returning 1
)
select count(*) from pruned;

-- Returns the ids of the newest messages in the ledger, the newest first.
--
--   :messages_max  bigint  messages at most
--   :rows_max      bigint  the rows of the ledger that are looked at

select l.subject_id::text as id
from (
  select r.subject_id, r.push_type, r.enqueued_at
  from tacet.push_log r
  order by r.enqueued_at desc
  limit :rows_max
) l
where l.push_type = 'message' and l.subject_id is not null
group by l.subject_id
order by max(l.enqueued_at) desc, l.subject_id
limit :messages_max;

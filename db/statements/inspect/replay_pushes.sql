-- Returns rows of the ledger for a replay, the oldest first, each with the moment of this look.
--
--   :last_enqueued_us  bigint  time of the last row of the page before, since 1970; the beginning of the span on the first page
--   :last_id           uuid    id of that row; null for the first page
--   :until_us          bigint  end of the span, exclusive, since 1970
--   :kind              text    the one kind of events; null for all
--   :rows_max          bigint  rows at most
--
-- The first condition repeats a part of the second, because the index has no ids: only it is a range of the index. Rows of one
-- moment are read again for each page that ends among them.

select
  l.id, (extract(epoch from l.enqueued_at) * 1000000)::bigint as enqueued_us, l.subject_id, l.push_type, l.user_id,
  l.decision, l.history::text as history,
  (select (extract(epoch from clock_timestamp()) * 1000000)::bigint) as asked_us
from tacet.push_log l
where l.enqueued_at >= timestamptz 'epoch' + :last_enqueued_us * interval '1 microsecond'
  and (l.enqueued_at, l.id) > (
    timestamptz 'epoch' + :last_enqueued_us * interval '1 microsecond',
    coalesce(:last_id, '00000000-0000-0000-0000-000000000000'))
  and l.enqueued_at < timestamptz 'epoch' + :until_us * interval '1 microsecond'
  and (:kind is null or l.push_type = :kind)
order by l.enqueued_at, l.id
limit :rows_max;

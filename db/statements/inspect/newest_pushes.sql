-- Returns the newest rows of the ledger.
--
--   :rows_max  bigint  rows at most

select
  l.id, (extract(epoch from l.enqueued_at) * 1000000)::bigint as enqueued_us, l.subject_id, l.push_type, l.user_id,
  l.decision, l.reason, (extract(epoch from l.held_until) * 1000000)::bigint as held_until_us,
  (extract(epoch from l.sent_at - l.enqueued_at) * 1000000)::bigint as latency_us,
  l.devices_accepted::bigint as devices_accepted
from tacet.push_log l
order by l.enqueued_at desc
limit :rows_max;

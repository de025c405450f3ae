-- Returns the newest rows of the ledger.
--
--   :rows_max  bigint  rows at most

select
  l.id, tacet.unix_us(l.enqueued_at) as enqueued_us, l.subject_id, l.push_type, l.user_id,
  l.decision, l.reason, tacet.unix_us(l.held_until) as held_until_us,
  tacet.unix_us(l.sent_at) - tacet.unix_us(l.enqueued_at) as latency_us,
  l.devices_accepted::bigint as devices_accepted
from tacet.push_log l
order by l.enqueued_at desc
limit :rows_max;

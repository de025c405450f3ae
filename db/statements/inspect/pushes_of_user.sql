-- Returns a page of a user's pushes, newest first.
--
--   :user_id           tacet.user_id  the user
--   :last_enqueued_us  bigint         time of the last row of the page before, since 1970; null for the first page
--   :last_id           uuid           id of that row
--   :rows_max          bigint         rows at most

select
  l.id, tacet.unix_us(l.enqueued_at) as enqueued_us, l.subject_id, l.push_type, l.user_id,
  l.decision, l.reason, tacet.unix_us(l.held_until) as held_until_us,
  tacet.unix_us(l.sent_at) - tacet.unix_us(l.enqueued_at) as latency_us,
  l.devices_accepted::bigint as devices_accepted
from tacet.push_log l
where l.user_id = :user_id
  and (l.enqueued_at, l.id) < (
    coalesce(timestamptz 'epoch' + :last_enqueued_us * interval '1 microsecond', 'infinity'),
    coalesce(:last_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
order by l.enqueued_at desc, l.id desc
limit :rows_max;

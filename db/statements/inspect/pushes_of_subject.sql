-- Returns a page of the recipients of a subject.
--
--   :subject_id    tacet.subject_id  the subject
--   :last_user_id  tacet.user_id     user of the last row of the page before; null for the first page
--   :last_kind     text              kind of that row
--   :rows_max      bigint            rows at most

select
  l.id, tacet.unix_us(l.enqueued_at) as enqueued_us, l.subject_id, l.push_type, l.user_id,
  l.decision, l.reason, tacet.unix_us(l.held_until) as held_until_us,
  tacet.unix_us(l.sent_at) - tacet.unix_us(l.enqueued_at) as latency_us,
  l.devices_accepted::bigint as devices_accepted
from tacet.push_log l
where l.subject_id = :subject_id
  and (l.user_id, l.push_type) > (coalesce(:last_user_id, tacet.lowest_user_id()),
    coalesce(:last_kind, ''))
order by l.user_id, l.push_type
limit :rows_max;

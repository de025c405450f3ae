-- Returns the outcome of an event so far. It is pending while its inbox row is there.
--
--   :subject_id  tacet.subject_id  the subject
--   :kind        text              the kind

select
  true as is_known,
  exists (select from tacet.inbox i where i.subject_id = :subject_id and i.kind = :kind) as is_pending,
  l.user_id, l.decision, l.reason, (extract(epoch from l.held_until) * 1000000)::bigint as held_until_us,
  l.devices_accepted::bigint as devices_accepted
from (values (1)) as one
left join tacet.push_log l on l.subject_id = :subject_id and l.push_type = :kind
order by l.user_id;

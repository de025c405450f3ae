-- Returns where an event of a watched kind is. It is known while its row or a row of the ledger is there, and pending
-- while its inbox row is there.
--
--   :subject_id  tacet.subject_id  the subject
--   :kind        text              the kind
--
-- Nothing is put in the inbox. A webhook only says that a row was written; the kind's own trigger and condition say
-- whether that was an event.

with event as materialized (
  select from tacet.event_content(:kind, :subject_id)
)
select
  exists (select from tacet.kinds k where k.kind = :kind) and (exists (select from event) or l.user_id is not null)
    as is_known,
  exists (select from tacet.inbox i where i.subject_id = :subject_id and i.kind = :kind) as is_pending,
  l.user_id, l.decision, l.reason, (extract(epoch from l.held_until) * 1000000)::bigint as held_until_us,
  l.devices_accepted::bigint as devices_accepted
from (values (1)) as one
left join tacet.push_log l on l.subject_id = :subject_id and l.push_type = :kind
order by l.user_id;

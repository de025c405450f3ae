-- Makes sure that a message named by a webhook is in the inbox, unless it has been decided, and returns its outcome.
--
--   :subject_id  tacet.subject_id  the message
--
-- A message known only from a webhook is as old as its own `created_at`: nothing better is known, and a webhook about
-- last year's message must not push it.

with message as materialized (
  select m.created_at from tacet.message_context(tacet.message_of(:subject_id)) m
), ledger as materialized (
  select l.user_id, l.decision, l.reason, l.held_until, l.devices_accepted
  from tacet.push_log l
  where l.subject_id = :subject_id and l.push_type = 'message'
), entry as (
  insert into tacet.inbox (subject_id, kind, enqueued_at)
  select
    :subject_id, 'message',
    case when isfinite(m.created_at) then least(clock_timestamp(), m.created_at) else clock_timestamp() end
  from message m
  where not exists (select from ledger)
  on conflict do nothing
)
select
  exists (select from message) or exists (select from ledger) as is_known,
  not exists (select from ledger) as is_pending,
  l.user_id, l.decision, l.reason, (extract(epoch from l.held_until) * 1000000)::bigint as held_until_us,
  l.devices_accepted::bigint as devices_accepted
from (values (1)) as one
left join ledger l on true
order by l.user_id;

-- Returns what is known of whether pushes are unread: a document for each that is looked at later, has made an event, or made none
-- because it was looked at before its time.
--
--   :log_ids  uuid[]  the rows of the ledger

select jsonb_build_object(
  'logID', u.log_id, 'state', u.state, 'reason', left(u.reason, 256), 'attempts', u.attempts, 'status', u.status,
  'error', left(u.error, 256),
  'sentAt', case when isfinite(u.sent_at) then tacet.unix_us(u.sent_at) end,
  'occurredAt', case when isfinite(u.occurred_at) then tacet.unix_us(u.occurred_at) end,
  'at', case when isfinite(u.at) then tacet.unix_us(u.at) end)::text
from (
  select
    c.log_id, 'checked_later' as state, null as reason, 0 as attempts, null::int as status, null as error, null::timestamptz as sent_at,
    c.due_at as occurred_at, c.due_at as at
  from tacet.unread_checks c
  where c.log_id = any (:log_ids)
  union all
  select
    e.log_id, e.state, e.reason, e.attempts, e.status, e.error, e.sent_at, e.occurred_at, coalesce(e.ended_at, e.due_at)
  from tacet.host_events e
  where e.log_id = any (:log_ids) and e.type = 'push.unread'
  union all
  select l.id, 'cancelled', c.cause, 0, null, null, l.sent_at, l.sent_at + e.after, l.sent_at + e.after
  from tacet.push_log l
  join tacet.escalations e on e.kind = l.push_type
  join tacet.announcements a on a.event = 'push.unread' and (a.kinds is null or l.push_type = any (a.kinds))
  cross join lateral (select tacet.looked_at_because(l.id) as cause) c
  where l.id = any (:log_ids) and l.decision = 'sent' and c.cause <> 'not_known'
    and not exists (select from tacet.unread_checks k where k.log_id = l.id)
    and not exists (select from tacet.host_events h where h.log_id = l.id and h.type = 'push.unread')
) u;

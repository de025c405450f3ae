-- Events that the host is told.

-- name: claim_host_events(events_max integer, lease_us bigint)
-- Claims events for the host, the oldest of each user; see tacet.claim_host_events.

select
  e.id, e.attempts as attempt, e.webhook_id, e.type, e.user_id, e.log_id as push_id, e.subject_id, e.kind, e.reason, e.channel, e.device,
  tacet.unix_us(e.occurred_at) as occurred_at, tacet.unix_us(e.sent_at) as sent_at
from tacet.claim_host_events(:events_max, :lease_us * interval '1 microsecond') e;

-- name: settle_host_event(event_id bigint, attempt integer, status integer, error text, next_try_us bigint, gives_up_us bigint)
-- Records what the host answered to an event; see tacet.settle_host_event. Returns its state; null if the claim is another's.

select
  tacet.settle_host_event(
    :event_id, :attempt, :status, :error, :next_try_us * interval '1 microsecond', :gives_up_us * interval '1 microsecond');

-- name: retry_host_events
-- Sends dead and waiting events to the host now; see tacet.retry_host_events. Returns how many.

select tacet.retry_host_events();

-- name: next_host_event
-- Returns microseconds until an event for the host or a check is due; null without either.

select tacet.unix_us(least(
  (select e.due_at from tacet.host_events e where e.state = 'waiting' order by e.due_at limit 1),
  (select c.due_at from tacet.unread_checks c order by c.due_at limit 1)
)) - tacet.unix_us(clock_timestamp());

-- name: host_event_figures(rows_max bigint)
-- Counts events for the host, and pushes that are looked at later.

select
  (select count(*) from (select from tacet.host_events e where e.state = 'waiting' limit :rows_max) w) as waiting,
  (
    select greatest(0, tacet.unix_us(clock_timestamp()) - tacet.unix_us(min(w.occurred_at)))
    from (select e.occurred_at from tacet.host_events e where e.state = 'waiting' order by e.due_at limit :rows_max) w
    having count(*) > 0
  ) as oldest_age,
  (select count(*) from (select from tacet.host_events e where e.state = 'dead' limit :rows_max) d) as dead,
  (select count(*) from (select from tacet.unread_checks c limit :rows_max) c) as checks,
  array(select a.event from tacet.announcements a order by a.event) as announced;

-- name: host_event_list(rows_max bigint)
-- Returns the newest dead events for the host and the waiting ones that were tried, dead ones first.
--
-- rows_max: events at most of either state.

(
  select
    e.state, e.type, e.kind, e.user_id, e.subject_id, e.attempts, e.status, e.error,
    tacet.unix_us(e.occurred_at) as occurred_at, tacet.unix_us(e.ended_at) as at
  from tacet.host_events e
  where e.state = 'dead'
  order by e.ended_at desc
  limit :rows_max
)
union all
(
  select
    e.state, e.type, e.kind, e.user_id, e.subject_id, e.attempts, e.status, e.error,
    tacet.unix_us(e.occurred_at), tacet.unix_us(e.due_at)
  from tacet.host_events e
  where e.state = 'waiting'
  order by e.due_at desc
  limit :rows_max
);

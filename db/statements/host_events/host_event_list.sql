-- Returns the newest dead events for the host and the waiting ones that were tried, dead ones first.
--
--   :rows_max  bigint  events at most of either state

(
  select
    e.state, e.type, e.kind, e.user_id, e.subject_id, e.attempts, e.status, e.error,
    (extract(epoch from e.occurred_at) * 1000000)::bigint as occurred_us,
    (extract(epoch from e.ended_at) * 1000000)::bigint as next_us
  from tacet.host_events e
  where e.state = 'dead'
  order by e.ended_at desc
  limit :rows_max
)
union all
(
  select
    e.state, e.type, e.kind, e.user_id, e.subject_id, e.attempts, e.status, e.error,
    (extract(epoch from e.occurred_at) * 1000000)::bigint,
    (extract(epoch from e.due_at) * 1000000)::bigint
  from tacet.host_events e
  where e.state = 'waiting'
  order by e.due_at desc
  limit :rows_max
);

-- Enqueues events that a trigger could not enqueue. Returns the number of events found.
--
--   :failures_max  bigint  failures at most
--
-- Events that were recorded meanwhile have no recipients left.

with missed as (
  update tacet.trigger_failures f
  set subject_ids = '{}'
  from (
    select x.ctid as place, x.subject_ids, x.kind, x.failed_at
    from tacet.trigger_failures x
    where x.subject_ids <> '{}' and x.kind <> 'erasure' and x.kind not like 'activity:%'
    order by x.failed_at
    limit :failures_max
    for update skip locked
  ) x
  where f.ctid = x.place
  returning x.subject_ids, x.kind, x.failed_at
), enqueued as (
  insert into tacet.inbox (subject_id, kind, enqueued_at)
  select s.subject_id, m.kind, m.failed_at from missed m, unnest(m.subject_ids) as s (subject_id)
  on conflict do nothing
)
select coalesce(sum(cardinality(m.subject_ids)), 0)::bigint from missed m;

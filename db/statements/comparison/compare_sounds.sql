-- Counts the pushes with a sound for each user and day (UTC) on which either sender had one. Its parameters are those of
-- compare_pushes.
--
--   :from_us  bigint  the beginning of the time, since 1970
--   :to_us    bigint  its end, which is outside
--   :kinds    text[]  the kinds that are compared
--
-- Silent updates of a burst are left out of the ledger's, and on both sides what never sounds. Nobody says which pushes of the
-- other sender are silent.

with pushed as (
  select l.user_id, (l.sent_at at time zone 'UTC')::date as day, 1 as ours, 0 as theirs
  from tacet.push_log l
  where l.enqueued_at >= timestamptz 'epoch' + :from_us * interval '1 microsecond'
    and l.enqueued_at < timestamptz 'epoch' + :to_us * interval '1 microsecond'
    and l.push_type = any (:kinds::text[]) and l.push_type not in ('read_sync', 'live_activity', 'schedule_changed')
    and (l.decision = 'sent' or l.reason = 'shadow') and (l.history -> -1 -> 'fold' -> 'sound') is distinct from 'false'
  union all
  select c.user_id, (c.sent_at at time zone 'UTC')::date, 0, 1
  from tacet.compared_pushes c
  where c.sent_at >= timestamptz 'epoch' + :from_us * interval '1 microsecond'
    and c.sent_at < timestamptz 'epoch' + :to_us * interval '1 microsecond'
    and c.kind = any (:kinds::text[]) and c.kind not in ('read_sync', 'live_activity', 'schedule_changed')
    and c.outcome is null
), days as (
  select sum(p.ours) as ours, sum(p.theirs) as theirs
  from pushed p
  group by p.user_id, p.day
)
select
  count(*) as user_days,
  coalesce(sum(d.ours), 0)::bigint as ours, coalesce(sum(d.theirs), 0)::bigint as theirs,
  coalesce(percentile_disc(0.99) within group (order by d.ours), 0)::bigint as percentile99_ours,
  coalesce(percentile_disc(0.99) within group (order by d.theirs), 0)::bigint as percentile99_theirs
from days d;

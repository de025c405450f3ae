-- Compares the ledger with what another sender has pushed: a row for each pair of verdicts that came up.
--
--   :from_us  bigint  the beginning of the time, since 1970
--   :to_us    bigint  its end, which is outside
--   :kinds    text[]  the kinds that are compared
--
-- ours: pushed, also for a push that a shadow withheld; the ledger's decision otherwise; unknown for what is not in the
-- ledger. theirs: pushed, failed, or nothing. A push that the ledger has counts at its event's time, another one at
-- the time of the other sender. late_us: by how much ours was later, where both pushed.

with ours as (
  select
    l.subject_id, l.user_id, l.push_type as kind,
    case when l.decision = 'sent' or l.reason = 'shadow' then 'pushed' else l.decision end as ours,
    case when l.decision <> 'sent' and l.reason <> 'shadow' then l.reason end as reason, l.sent_at
  from tacet.push_log l
  where l.enqueued_at >= timestamptz 'epoch' + :from_us * interval '1 microsecond'
    and l.enqueued_at < timestamptz 'epoch' + :to_us * interval '1 microsecond'
    and l.push_type = any (:kinds::text[]) and l.subject_id is not null
), pairs as (
  select
    o.subject_id, o.user_id, o.kind, o.ours, o.reason, c.outcome,
    case when c.subject_id is null then 'nothing' when c.outcome is null then 'pushed' else 'failed' end as theirs,
    case when o.ours = 'pushed' and c.outcome is null then (extract(epoch from o.sent_at - c.sent_at) * 1000000)::bigint
    end as late_us
  from ours o
  left join tacet.compared_pushes c on c.subject_id = o.subject_id and c.user_id = o.user_id and c.kind = o.kind
  union all
  select
    c.subject_id, c.user_id, c.kind, 'unknown', null, c.outcome,
    case when c.outcome is null then 'pushed' else 'failed' end, null
  from tacet.compared_pushes c
  where c.sent_at >= timestamptz 'epoch' + :from_us * interval '1 microsecond'
    and c.sent_at < timestamptz 'epoch' + :to_us * interval '1 microsecond'
    and c.kind = any (:kinds::text[])
    and not exists (
      select
      from tacet.push_log l
      where l.subject_id = c.subject_id and l.user_id = c.user_id and l.push_type = c.kind)
), numbered as (
  select p.*, row_number() over (partition by p.ours, p.reason, p.theirs, p.outcome order by p.subject_id, p.user_id) as place
  from pairs p
)
select
  n.ours, n.reason, n.theirs, n.outcome, count(*) as pairs,
  array_agg(n.subject_id::text order by n.place) filter (where n.place <= 3) as example_subjects,
  array_agg(n.user_id::text order by n.place) filter (where n.place <= 3) as example_users,
  array_agg(n.kind order by n.place) filter (where n.place <= 3) as example_kinds,
  percentile_disc(0.5) within group (order by n.late_us) as median_late_us,
  percentile_disc(0.99) within group (order by n.late_us) as percentile99_late_us
from numbered n
group by n.ours, n.reason, n.theirs, n.outcome;

-- Returns the progress of a run as one document. No row when there is no such run.
--
--   :run_id  uuid  the run

select jsonb_build_object(
  'campaign', r.campaign, 'enrolled', r.enrolled,
  'startedAt', (extract(epoch from r.started_at) * 1000000)::bigint,
  'undecided', d.undecided, 'committed', d.committed, 'skipped', d.skipped, 'failed', d.failed,
  'reasons', d.reasons, 'inputTokens', d.input_tokens, 'outputTokens', d.output_tokens,
  'costMicrodollars', d.cost_microdollars, 'finishedAt', d.finished_at)::text
from tacet.campaign_runs r
cross join lateral (
  select
    coalesce(sum(x.users) filter (where x.decision is null), 0) as undecided,
    coalesce(sum(x.users) filter (where x.decision = 'committed'), 0) as committed,
    coalesce(sum(x.users) filter (where x.decision = 'skipped'), 0) as skipped,
    coalesce(sum(x.users) filter (where x.decision = 'failed'), 0) as failed,
    coalesce(jsonb_object_agg(x.reason, x.users) filter (where x.reason is not null), '{}') as reasons,
    coalesce(sum(x.input_tokens), 0) as input_tokens, coalesce(sum(x.output_tokens), 0) as output_tokens,
    coalesce(sum(x.cost_microdollars), 0) as cost_microdollars,
    (extract(epoch from max(x.decided_at)) * 1000000)::bigint as finished_at
  from (
    select
      y.decision, y.reason, count(*) as users, sum(y.input_tokens) as input_tokens,
      sum(y.output_tokens) as output_tokens, sum(y.cost_microdollars) as cost_microdollars,
      max(y.decided_at) as decided_at
    from tacet.campaign_decisions y
    where y.run_id = r.id
    group by y.decision, y.reason
  ) x
) d
where r.id = :run_id;

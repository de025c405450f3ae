-- Campaigns: their hours and runs, and what they have decided.

-- name: campaigns
-- Returns the active campaigns: name, definition, and whether hours start them.

select c.name, c.definition::text, c.is_scheduled from tacet.campaigns c where c.is_active order by c.name;

-- name: campaign_run(run_id uuid)
-- Returns the progress of a run as one document. No row when there is no such run.

select jsonb_build_object(
  'campaign', r.campaign, 'enrolled', r.enrolled,
  'startedAt', (extract(epoch from r.started_at) * 1000000)::bigint,
  'undecided', d.undecided, 'committed', d.committed, 'skipped', d.skipped, 'failed', d.failed,
  'reasons', d.reasons, 'inputTokens', d.input_tokens, 'outputTokens', d.output_tokens,
  'costMicrodollars', d.cost_microdollars, 'finishedAt', d.finished_at,
  'isEnrolled', r.finished_at is not null or r.started_at < now() - interval '2 hours')::text
from tacet.campaign_runs r
cross join lateral (
  select
    coalesce(sum(x.users) filter (where x.status = 'scheduled'), 0) as undecided,
    coalesce(sum(x.users) filter (where x.status = 'sent'), 0) as committed,
    coalesce(sum(x.users) filter (where x.status in ('skipped', 'cancelled')), 0) as skipped,
    coalesce(sum(x.users) filter (where x.status = 'failed'), 0) as failed,
    coalesce(jsonb_object_agg(x.reason, x.users) filter (where x.reason is not null), '{}') as reasons,
    coalesce(sum(x.input_tokens), 0) as input_tokens, coalesce(sum(x.output_tokens), 0) as output_tokens,
    coalesce(sum(x.cost_microdollars), 0) as cost_microdollars,
    (extract(epoch from max(x.decided_at)) * 1000000)::bigint as finished_at
  from (
    select
      y.status, y.reason, count(*) as users, sum(y.input_tokens) as input_tokens,
      sum(y.output_tokens) as output_tokens, sum(y.cost_microdollars) as cost_microdollars,
      max(y.changed_at) filter (where y.status <> 'scheduled') as decided_at
    from tacet.occasions y
    where y.run_id = r.id
    group by y.status, y.reason
  ) x
) d
where r.id = :run_id;

-- name: next_hour(minutes integer, campaigns text[])
-- Returns the microseconds until an hour of a campaign comes; null when none is to come. Each campaign runs at least once in eight days,
-- so further days need no look. Hours come where the users live whom runs of the last day have seen, and anywhere when there was none.
--
-- minutes: minutes after midnight, where a campaign names no time.

select (extract(epoch from min(h.due_at) - now()) * 1000000)::bigint as wait
from (
  select tacet.campaign_hour(
    c, time '00:00' + :minutes * interval '1 minute', k.zone, (now() at time zone k.zone)::date + n.days) as due_at
  from tacet.campaigns c
  cross join lateral (
    select array_agg(distinct tacet.known_zone(s.zone)) as seen, count(*) > 0 as is_known
    from tacet.campaign_runs r
    left join lateral unnest(r.zones) as s (zone) on true
    where r.campaign = c.name and r.cause = 'schedule' and r.due_at > now() - interval '1 day'
  ) r
  cross join lateral unnest(case when r.is_known then r.seen else array(select tacet.known_zones()) end) as k (zone)
  cross join generate_series(0, 8) as n (days)
  where c.name = any (:campaigns) and c.is_active and c.is_scheduled
  offset 0
) h
where h.due_at > now();

-- name: due_hours(campaign text, minutes integer)
-- Returns the hours of a campaign that have come and were not served: instant and zones.
--
-- minutes: minutes after midnight, where the campaign names no time.

select (extract(epoch from s.due_at) * 1000000)::bigint as due_us, s.zones
from tacet.due_hours(:campaign, time '00:00' + :minutes * interval '1 minute') s;

-- name: open_requests
-- Returns the runs of requests that have more users to enrol: campaign, moment and run. Like an hour, one is given up after two hours.

select r.campaign, (extract(epoch from r.due_at) * 1000000)::bigint as due_us, r.id
from tacet.campaign_runs r
where r.cause = 'request' and r.finished_at is null and r.started_at > now() - interval '2 hours'
order by r.started_at;

-- name: enrol_page(campaign text, due_us bigint, zones text[], request uuid, users_max bigint)
-- Enrols a page of the users whose hour has come, or whom a request means, and returns how many were enrolled, and whether more are to be.
-- No row when nothing is left.
--
-- due_us: the hour or the request's moment, since 1970. zones: the hour's, as due_hours returned them; null for a request. request: its run;
-- null for an hour. users_max: users of the page.

select e.enrolled, e.is_finished
from tacet.enrol_campaign(
  :campaign, timestamptz 'epoch' + :due_us * interval '1 microsecond', :zones, users_max => :users_max, request => :request) e;

-- name: enrol_campaign(campaign text, only_user_id tacet.user_id, users_max bigint)
-- Enrols the first page of all users now, whatever the hour; open_requests returns the run while more are to be. Returns no row when
-- there is no such campaign.
--
-- only_user_id: null for all. users_max: users of the page.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select e.run_id, e.enrolled
from durable
cross join lateral tacet.enrol_campaign(:campaign, clock_timestamp(), only_user => :only_user_id, users_max => :users_max) e;

-- name: eligible_for_campaign(campaign text, only_user_id tacet.user_id, users_max bigint)
-- Returns the users whom a campaign would look at now and has not looked at today, in the order of their ids; how many
-- they are, and the clock.
--
-- only_user_id: null for all. users_max: users returned at most.

select
  e.user_id, e.time_zone, e.local_day::text, count(*) over () as users,
  (extract(epoch from statement_timestamp()) * 1000000)::bigint as now_us
from tacet.campaigns c
cross join lateral tacet.campaign_page(c, clock_timestamp(), only_user => :only_user_id) e
where c.name = :campaign and c.is_active and e.is_considered
order by e.user_id
limit :users_max;

-- name: campaign_story(campaign text, user_id tacet.user_id, local_day text)
-- Returns what a campaign decided about a user, newest days first, its slots, and what would keep it back now; one document.
--
-- local_day: null for the newest 14.

select jsonb_build_object(
  'isKnown', exists (select from tacet.campaigns c where c.name = :campaign),
  'now', (extract(epoch from clock_timestamp()) * 1000000)::bigint,
  'standing', (
    select r.refusal
    from tacet.campaign_refusals(
      :campaign, array[:user_id], array[clock_timestamp()], array[null::date], array[null::text]) r),
  'slots', (
    select jsonb_agg(
      jsonb_build_object(
        'slot', s.slot, 'phase', s.phase, 'isOn', s.is_on and s.is_enabled,
        'nextFireAt', (extract(epoch from s.next_fire_at) * 1000000)::bigint)
      order by s.slot)
    from tacet.slots s
    where s.campaign = :campaign and s.user_id = :user_id
  ),
  'rows', (
    select jsonb_agg(r.row order by r.fire_at desc)
    from (
      select
        d.fire_at,
        jsonb_build_object(
          'slot', d.slot, 'phase', d.phase, 'localDay', d.fire_date, 'timeZone', d.time_zone,
          'fireAt', (extract(epoch from d.fire_at) * 1000000)::bigint,
          'renderedAt', (extract(epoch from d.rendered_at) * 1000000)::bigint,
          'status', d.status, 'reason', d.reason, 'title', d.title, 'body', d.body,
          'armedBy', cardinality(d.armed_by), 'attempts', d.attempts, 'push', tacet.campaign_push_outcome(d.push_id, d.user_id)) as row
      from tacet.occasions d
      where d.campaign = :campaign and d.user_id = :user_id and d.has_slot
        and (:local_day::text is null or d.fire_date = :local_day::date)
      order by d.fire_at desc
      limit 48
    ) r
  ),
  'days', coalesce(
    (
      select jsonb_agg(s.day order by s.fire_date desc)
      from (
        select
          d.fire_date,
          jsonb_build_object(
            'localDay', d.fire_date, 'timeZone', d.time_zone, 'attempts', d.attempts, 'runID', d.run_id,
            'dueAt', (extract(epoch from d.fire_at) * 1000000)::bigint,
            'enrolledAt', (extract(epoch from d.rendered_at) * 1000000)::bigint,
            'decidedAt', case when d.status <> 'scheduled' then (extract(epoch from d.changed_at) * 1000000)::bigint end,
            'decision',
            case when d.push_id is not null then 'committed' when d.status <> 'scheduled' then d.status end,
            'reason', d.reason, 'layer', d.layer, 'inputs', d.inputs,
            'inputTokens', d.input_tokens, 'outputTokens', d.output_tokens,
            'costMicrodollars', d.cost_microdollars, 'pushID', d.push_id,
            'push', tacet.campaign_push_outcome(d.push_id, d.user_id)) as day
        from tacet.occasions d
        where d.campaign = :campaign and d.user_id = :user_id and not d.has_slot
          and (:local_day::text is null or d.fire_date = :local_day::date)
        order by d.fire_date desc
        limit 14
      ) s
    ),
    '[]'))::text;

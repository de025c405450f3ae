-- Campaigns: their hours and runs, and what they have decided.

-- name: campaigns
-- Returns the active campaigns: name, definition, and whether hours start them.

select c.name, c.definition::text, c.is_scheduled from tacet.campaigns c where c.is_active order by c.name;

-- name: campaign_run(run_id uuid)
-- Returns the progress of a run as one document. No row when there is no such run.

select (d.document || jsonb_build_object(
  'campaign', r.campaign, 'enrolled', r.enrolled, 'startedAt', tacet.unix_us(r.started_at),
  'isEnrolled', r.finished_at is not null or r.started_at < now() - interval '2 hours'))::text
from tacet.campaign_runs r
cross join lateral (
  select jsonb_build_object(
    'undecided', coalesce(sum(x.users) filter (where x.status = 'scheduled'), 0),
    'committed', coalesce(sum(x.users) filter (where x.status = 'sent'), 0),
    'skipped', coalesce(sum(x.users) filter (where x.status in ('skipped', 'cancelled')), 0),
    'failed', coalesce(sum(x.users) filter (where x.status = 'failed'), 0),
    'reasons', coalesce(jsonb_object_agg(x.reason, x.users) filter (where x.reason is not null), '{}'),
    'inputTokens', coalesce(sum(x.input_tokens), 0), 'outputTokens', coalesce(sum(x.output_tokens), 0),
    'costMicrodollars', coalesce(sum(x.cost_microdollars), 0), 'finishedAt', tacet.unix_us(max(x.decided_at))) as document
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

select tacet.unix_us(s.due_at) as due_us, s.zones
from tacet.due_hours(:campaign, time '00:00' + :minutes * interval '1 minute') s;

-- name: open_requests
-- Returns the runs of requests that have more users to enrol: campaign, moment and run. Like an hour, one is given up after two hours.

select r.campaign, tacet.unix_us(r.due_at) as due_us, r.id
from tacet.campaign_runs r
where r.cause = 'request' and r.finished_at is null and r.started_at > now() - interval '2 hours'
order by r.started_at;

-- name: enrol_campaign(
--   campaign text, due_us bigint, zones text[], request uuid, only_user_id tacet.user_id, users_max bigint)
-- Enrols a page of the users whose hour has come, or whom a request means; see tacet.enrol_campaign. Returns the run, how many were
-- enrolled, and whether more are to be: open_requests returns that of a request. No row when nothing is left, or there is no such campaign.
--
-- due_us: the hour or the request's moment, since 1970; null for a new request. zones: the hour's, as due_hours returned them; null for a
-- request. request: its run; null for an hour and a new request. only_user_id: null for all. users_max: users of the page.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select e.run_id, e.enrolled, e.is_finished
from durable
cross join lateral tacet.enrol_campaign(
  :campaign, coalesce(timestamptz 'epoch' + :due_us * interval '1 microsecond', clock_timestamp()), :zones, :only_user_id, :users_max,
  :request) e;

-- name: eligible_for_campaign(campaign text, only_user_id tacet.user_id, users_max bigint)
-- Returns the users whom a campaign would look at now and has not looked at today, in the order of their ids; how many
-- they are, and the clock.
--
-- only_user_id: null for all. users_max: users returned at most.

select
  e.user_id, e.time_zone, e.local_day::text, count(*) over () as users,
  tacet.unix_us(statement_timestamp()) as now_us
from tacet.campaigns c
cross join lateral tacet.campaign_page(c, clock_timestamp(), only_user => :only_user_id) e
where c.name = :campaign and c.is_active and e.is_considered
order by e.user_id
limit :users_max;

-- name: campaign_story(campaign text, user_id tacet.user_id, local_day text)
-- Returns what a campaign decided about a user, the newest first, the user's slots, and what would keep it back now; one document.
--
-- local_day: null for the newest 14 days, and 48 occasions of slots.

select jsonb_build_object(
  'isKnown', exists (select from tacet.campaigns c where c.name = :campaign),
  'now', tacet.unix_us(clock_timestamp()),
  'standing', (
    select r.refusal
    from tacet.campaign_refusals(
      :campaign, array[:user_id], array[clock_timestamp()], array[null::date], array[null::text]) r),
  'slots', (
    select jsonb_agg(
      jsonb_build_object(
        'slot', s.slot, 'phase', s.phase, 'isOn', s.is_on and s.is_enabled, 'nextFireAt', tacet.unix_us(s.next_fire_at))
      order by s.slot)
    from tacet.slots s
    where s.campaign = :campaign and s.user_id = :user_id
  ),
  'rows', o.rows, 'days', coalesce(o.days, '[]'))::text
from (
  select jsonb_agg(d.document) filter (where d.has_slot) as rows, jsonb_agg(d.document) filter (where not d.has_slot) as days
  from (
    select
      d.has_slot,
      jsonb_build_object(
        'slot', d.slot, 'phase', d.phase, 'localDay', d.fire_date, 'timeZone', d.time_zone, 'attempts', d.attempts, 'runID', d.run_id,
        'fireAt', tacet.unix_us(d.fire_at), 'renderedAt', tacet.unix_us(d.rendered_at), 'status', d.status,
        'decidedAt', case when d.status <> 'scheduled' then tacet.unix_us(d.changed_at) end,
        'decision', case when d.push_id is not null then 'committed' when d.status <> 'scheduled' then d.status end,
        'reason', d.reason, 'title', d.title, 'body', d.body, 'armedBy', cardinality(d.armed_by), 'layer', d.layer, 'inputs', d.inputs,
        'inputTokens', d.input_tokens, 'outputTokens', d.output_tokens, 'costMicrodollars', d.cost_microdollars, 'pushID', d.push_id,
        -- Null until it is recorded.
        'push', (
          select jsonb_build_object(
            'logID', l.id, 'pushType', l.push_type, 'decision', l.decision, 'reason', l.reason, 'content', l.content, 'opened', l.opened,
            'sentAt', tacet.unix_us(l.sent_at))
          from tacet.push_log l
          where l.subject_id = tacet.subject_of(d.push_id) and l.user_id = d.user_id
          limit 1
        )) as document
    from (
      select d.*, row_number() over (partition by d.has_slot order by d.fire_at desc) as place
      from tacet.occasions d
      where d.campaign = :campaign and d.user_id = :user_id and (:local_day::text is null or d.fire_date = :local_day::date)
    ) d
    where d.place <= case when d.has_slot then 48 else 14 end
    order by d.place
  ) d
) o;

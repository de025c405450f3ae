-- Pushes that no event asks for: a campaign looks at each user once a day, at an hour of the user's own, and sends at most
-- one push. What it looks at, and whom, is data and functions of the host contract; how a push then goes out is the same
-- as of any other.
--
-- Locks: ADD COLUMN takes ACCESS EXCLUSIVE on tacet.pushes for an instant and rewrites nothing. The index on push_log keeps
-- others from writing the ledger while it is read once. A running older service is not affected otherwise; it sends the
-- pushes of campaigns too, without their metadata.

-- metadata: as the ledger will keep it; nothing personal. quiet_policy: hold or drop, over what the user wants; null for
-- that. A thoughtful word of yesterday evening is not shown in the morning, where it would be the day's second.
alter table tacet.pushes
  add column if not exists metadata jsonb not null default '{}',
  add column if not exists quiet_policy text check (quiet_policy in ('hold', 'drop'));

-- When a user was last pushed by a campaign. Most of a ledger are messages, among which one would have to look otherwise.
-- `is true` keeps the planner from reading all of it for other statements, which name one type.
create index if not exists push_log_campaign_idx on public.push_log (user_id, sent_at desc)
  where (push_type <> 'message') is true;

-- local_time: when each user is looked at, in the user's zone; null for the service's setting. weekdays: of ISO 8601,
-- Monday is 1. audience: a function (moment timestamptz, only_user uuid) returns table (user_id uuid, time_zone text,
-- gap_days int): whom it may concern, and how many days lie between two pushes. material: a function (user_id uuid,
-- moment timestamptz) returns jsonb: what is known of one user. push_types: those of its pushes; they share one cap with
-- those of all campaigns. definition: what the service makes of the material; db/README.md has its form.
create table if not exists tacet.campaigns (
  created_at timestamptz not null default now(),
  local_time time,
  is_active boolean not null default true,
  is_scheduled boolean not null default true,
  needs_no_session boolean not null default true,
  name text primary key check (name ~ '^[a-z][a-z0-9_]{0,62}$'),
  audience text not null,
  material text not null,
  push_types text[] not null check (cardinality(push_types) > 0),
  weekdays smallint[] not null default '{1,2,3,4,5,6,7}' check (weekdays <@ '{1,2,3,4,5,6,7}'),
  definition jsonb not null
);

-- One look at everybody whose hour it is, in one zone; or what a request asked for. cause: schedule or request.
create table if not exists tacet.campaign_runs (
  started_at timestamptz not null default clock_timestamp(),
  due_at timestamptz not null,
  enrolled int not null default 0,
  id uuid primary key default gen_random_uuid(),
  only_user uuid,
  campaign text not null,
  cause text not null check (cause in ('schedule', 'request')),
  time_zone text
);

create index if not exists campaign_runs_started_idx on tacet.campaign_runs (started_at);

-- Hours that have been served, so that each is once, whichever process notices it.
create table if not exists tacet.campaign_slots (
  due_at timestamptz not null,
  local_day date,
  campaign text,
  time_zone text,
  primary key (campaign, time_zone, local_day)
);

create index if not exists campaign_slots_due_idx on tacet.campaign_slots (due_at);

-- A user whom a campaign looks at, once for each of the user's days, and what it has decided. available_at: when it may be
-- claimed; the end of the lease of a claim. due_at: the hour for which it was looked. decision: null until then; committed
-- means that a push was queued, of which the ledger tells the rest. inputs: ages, counts and flags that the rules were
-- given; no text of anybody.
create table if not exists tacet.campaign_decisions (
  enrolled_at timestamptz not null default clock_timestamp(),
  available_at timestamptz not null default clock_timestamp(),
  due_at timestamptz not null,
  decided_at timestamptz,
  cost_microdollars bigint not null default 0,
  input_tokens int not null default 0,
  output_tokens int not null default 0,
  local_day date not null,
  attempts smallint not null default 0,
  user_id uuid not null,
  run_id uuid not null,
  push_id uuid,
  campaign text not null,
  time_zone text not null,
  decision text check (decision in ('committed', 'skipped', 'failed')),
  reason text,
  layer text,
  inputs jsonb not null default '{}',
  primary key (user_id, campaign, local_day)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

create index if not exists campaign_decisions_available_idx on tacet.campaign_decisions (available_at)
  where decision is null;
create index if not exists campaign_decisions_run_idx on tacet.campaign_decisions (run_id);
create index if not exists campaign_decisions_enrolled_idx on tacet.campaign_decisions (enrolled_at);

-- The newest push of any campaign for a user: its row is the lock under which the next one is decided.
create table if not exists tacet.frequency_caps (
  committed_at timestamptz,
  committed_day date,
  user_id uuid primary key
);

-- What language models have cost, by days of UTC; kept for good, a row a day. reserved_: for calls under way; what a killed process had reserved stays
-- so for the day.
create table if not exists tacet.model_usage (
  input_tokens bigint not null default 0,
  output_tokens bigint not null default 0,
  reserved_tokens bigint not null default 0,
  cost_microdollars bigint not null default 0,
  reserved_microdollars bigint not null default 0,
  calls bigint not null default 0,
  day date primary key
);

-- A zone's name if it is one; null otherwise.
create or replace function tacet.known_zone(zone text)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform now() at time zone zone;
  return zone;
exception
  when invalid_parameter_value then
    return null;
end
$$;

-- A user's day at a moment, and the moment so many days earlier by the user's clock.
create or replace function tacet.campaign_day(zone text, gap_days int, moment timestamptz)
returns table (local_day date, day_start timestamptz, day_end timestamptz, gap_start timestamptz)
language sql stable
as $$
  select
    d.local_time::date, tacet.civil_instant(d.local_time::date, zone), tacet.civil_instant(d.local_time::date + 1, zone),
    tacet.civil_instant(d.local_time - gap_days * interval '1 day', zone)
  from (select moment at time zone zone as local_time) d
$$;

set check_function_bodies = off;

-- Part of the host contract: whom check-ins may concern, where they live, and how many days they want between two. Whoever
-- did not clearly ask for them is left out. only_user: nobody else; null for everybody.
create or replace function tacet.check_in_audience(moment timestamptz, only_user uuid)
returns table (user_id uuid, time_zone text, gap_days int)
language sql stable
as $$
  select
    p.user_id, p.time_zone,
    case p.notification_preferences ->> 'frequency' when 'daily' then 1 when 'few_times_a_week' then 2 else 7 end
  from public.context_profiles p
  where p.notification_preferences -> 'check_ins_enabled' = 'true'
    and p.notification_preferences ->> 'frequency' in ('daily', 'few_times_a_week', 'weekly')
    and (check_in_audience.only_user is null or p.user_id = check_in_audience.only_user)
    and exists (select from public.push_tokens t where t.user_id = p.user_id and t.invalidated_at is null)
$$;

-- Part of the host contract: the sessions that a user began between two moments, the second one excluded.
create or replace function tacet.sessions_between(user_id uuid, first_moment timestamptz, end_moment timestamptz)
returns table (session_id uuid)
language sql stable
as $$
  select c.id
  from public.conversations c
  where c.owner_id = sessions_between.user_id
    and c.created_at >= sessions_between.first_moment and c.created_at < sessions_between.end_moment
$$;

-- Part of the host contract: what a check-in may be about. An object with context_summary, coaching_preferences,
-- locale (of the user's app, for dates in digits), inactive_seconds (null: has never written), messages (the user's own of the last seven days, the newest first),
-- patterns, last_conversation and missing: what could not be read, because the host does not have it.
create or replace function tacet.check_in_material(user_id uuid, moment timestamptz)
returns jsonb
language plpgsql stable
as $$
#variable_conflict use_column
declare
  missing text[] := '{}';
  profile jsonb;
  written jsonb;
  patterns jsonb;
  talk jsonb;
  wrote_at timestamptz;
  began_at timestamptz;
  locale text;
begin
  begin
    select jsonb_build_object(
      'context_summary', left(p.context_summary, 4000), 'coaching_preferences', p.coaching_preferences)
    into profile
    from public.context_profiles p
    where p.user_id = check_in_material.user_id;
  exception
    when undefined_table or undefined_column or insufficient_privilege then
      missing := missing || 'profile'::text;
  end;
  begin
    select t.locale into locale
    from public.push_tokens t
    where t.user_id = check_in_material.user_id and t.invalidated_at is null and t.locale is not null
    order by t.registered_at desc
    limit 1;
  exception
    when undefined_table or undefined_column or insufficient_privilege then
      null;
  end;
  begin
    select max(m.created_at) into wrote_at
    from public.conversations c
    cross join lateral (
      select m.created_at
      from public.messages m
      where m.conversation_id = c.id and m.from_id = c.owner_id
      order by m.created_at desc
      limit 1
    ) m
    where c.owner_id = check_in_material.user_id;
    select
      coalesce(
        jsonb_agg(
          jsonb_build_object('text', m.text, 'written_at', (extract(epoch from m.created_at) * 1000000)::bigint)
          order by m.created_at desc),
        '[]')
    into written
    from (
      select left(m.text, 2000) as text, m.created_at
      from public.conversations c
      join public.messages m on m.conversation_id = c.id and m.from_id = c.owner_id
      where c.owner_id = check_in_material.user_id
        and m.created_at >= check_in_material.moment - interval '7 days' and m.text <> ''
      order by m.created_at desc
      limit 50
    ) m;
    select
      max(c.created_at),
      (array_agg(
        jsonb_build_object(
          'domain', c.domain,
          'texts', (
            select coalesce(jsonb_agg(t.text order by t.created_at desc), '[]')
            from (
              select left(m.text, 500) as text, m.created_at
              from public.messages m
              where m.conversation_id = c.id and m.text <> ''
              order by m.created_at desc
              limit 5
            ) t
          ))
        order by c.created_at desc))[1]
    into began_at, talk
    from (
      select c.id, c.domain, c.created_at
      from public.conversations c
      where c.owner_id = check_in_material.user_id
      order by c.created_at desc
      limit 1
    ) c;
  exception
    when undefined_table or undefined_column or insufficient_privilege then
      missing := missing || '{messages,conversations}'::text[];
  end;
  begin
    select
      coalesce(
        jsonb_agg(
          jsonb_build_object(
            'theme', left(p.theme, 200), 'occurrences', p.occurrences, 'domains', to_jsonb(p.domains),
            'confidence', p.confidence, 'synthesis', left(p.synthesis, 1000),
            'sessions_since', (
              select count(*) from tacet.sessions_between(p.user_id, p.created_at, 'infinity')
            ))
          order by p.created_at desc),
        '[]')
    into patterns
    from (
      select * from public.pattern_cache p where p.user_id = check_in_material.user_id order by p.created_at desc limit 20
    ) p;
  exception
    when undefined_table or undefined_column or insufficient_privilege then
      missing := missing || 'patterns'::text;
  end;
  return jsonb_build_object(
    'locale', locale, 'context_summary', profile -> 'context_summary', 'coaching_preferences', profile -> 'coaching_preferences',
    'inactive_seconds', extract(epoch from check_in_material.moment - greatest(wrote_at, began_at)),
    'messages', coalesce(written, '[]'), 'patterns', coalesce(patterns, '[]'), 'last_conversation', talk,
    'missing', to_jsonb(missing));
end
$$;

-- What keeps a user of an audience from a push of any campaign; null when nothing does. The moments are of
-- tacet.campaign_day for the hour that is served.
--
-- The ledger counts by what was sent, and its own days: one push on a day, whatever the gap. Two pushes of two daily runs
-- lie a day apart when the runs do, however long each took to write its push; so a push counts from the hour it was written
-- for (its metadata's due_at), and that may come half an hour early, because another scheduler's minute is not exact. Rows
-- without that hour count from the second they were sent.
create or replace function tacet.campaign_gate(
  user_id uuid, needs_no_session boolean, push_types text[], local_day date, day_start timestamptz, day_end timestamptz,
  gap_start timestamptz
)
returns table (reason text)
language sql stable
as $$
  select
    case
      when exists (
        select
        from tacet.frequency_caps f
        where f.user_id = campaign_gate.user_id and f.committed_day >= campaign_gate.local_day
      ) then 'pushed_today'
      when exists (
        select
        from public.push_log l
        where l.user_id = campaign_gate.user_id and l.push_type = any (campaign_gate.push_types)
          and (l.push_type <> 'message') is true
          and l.sent_at > least(campaign_gate.gap_start, campaign_gate.day_start - interval '1 microsecond')
          and (
            l.sent_at >= campaign_gate.day_start
            or case
              when jsonb_typeof(l.metadata -> 'due_at') = 'number'
                then to_timestamp((l.metadata ->> 'due_at')::float8) - interval '30 minutes'
              else l.sent_at
            end > campaign_gate.gap_start)
      ) then 'recently_pushed'
      when campaign_gate.needs_no_session and exists (
        select from tacet.sessions_between(campaign_gate.user_id, campaign_gate.day_start, campaign_gate.day_end)
      ) then 'session_today'
    end
$$;

reset check_function_bodies;

-- The push types of all campaigns: they share one cap.
create or replace function tacet.campaign_push_types()
returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(distinct t.push_type), '{}') from tacet.campaigns c cross join unnest(c.push_types) as t (push_type)
$$;

-- Whom a campaign would look at for an hour: its audience without those whom the gate keeps back, of one zone as the
-- audience names it, or of all.
--
-- What depends on zone and gap alone is computed once for each; everything else is a look-up in an index for each user.
--
-- The service's sessions avoid sequential scans, for the sake of queues that are mostly empty; of everybody they are best.
create or replace function tacet.campaign_eligible(
  campaign text, due_at timestamptz, only_zone text default null, only_user uuid default null
)
returns table (user_id uuid, time_zone text, local_day date)
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = on
as $$
declare
  found_campaign tacet.campaigns;
begin
  select c.* into found_campaign from tacet.campaigns c where c.name = campaign_eligible.campaign and c.is_active;
  if not found then
    return;
  end if;
  return query execute format(
    $query$
      with audience as materialized (
        select a.user_id, coalesce(a.time_zone, '') as zone_name, a.gap_days
        from %s($1, $3) a
        where $2 is null or coalesce(a.time_zone, '') = $2
      ), places as materialized (
        select p.zone_name, p.gap_days, z.zone, d.local_day, d.day_start, d.day_end, d.gap_start
        from (select distinct a.zone_name, a.gap_days from audience a) p
        cross join lateral (select coalesce(tacet.known_zone(p.zone_name), 'UTC') as zone) z
        cross join lateral tacet.campaign_day(z.zone, p.gap_days, $1) d
      )
      select a.user_id, p.zone, p.local_day
      from audience a
      join places p on p.zone_name = a.zone_name and p.gap_days = a.gap_days
      cross join lateral tacet.campaign_gate(a.user_id, $4, $5, p.local_day, p.day_start, p.day_end, p.gap_start) g
      where g.reason is null
    $query$,
    found_campaign.audience::regproc)
  using
    campaign_eligible.due_at, campaign_eligible.only_zone, campaign_eligible.only_user, found_campaign.needs_no_session,
    tacet.campaign_push_types();
end
$$;

-- Notes everybody whom a campaign is to look at for an hour; who was noted for the same day before is not noted again.
-- No row when there is no such campaign, or it is not active.
create or replace function tacet.enrol_campaign(
  campaign text, due_at timestamptz, cause text, only_zone text default null, only_user uuid default null
)
returns table (run_id uuid, enrolled int)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  noted int;
begin
  if not exists (select from tacet.campaigns c where c.name = enrol_campaign.campaign and c.is_active) then
    return;
  end if;
  run_id := gen_random_uuid();
  insert into tacet.campaign_decisions (due_at, local_day, user_id, run_id, campaign, time_zone)
  select enrol_campaign.due_at, e.local_day, e.user_id, enrol_campaign.run_id, enrol_campaign.campaign, e.time_zone
  from tacet.campaign_eligible(
    enrol_campaign.campaign, enrol_campaign.due_at, enrol_campaign.only_zone, enrol_campaign.only_user
  ) e
  on conflict do nothing;
  get diagnostics noted = row_count;
  insert into tacet.campaign_runs (id, due_at, enrolled, only_user, campaign, cause, time_zone)
  values (
    enrol_campaign.run_id, enrol_campaign.due_at, noted, enrol_campaign.only_user, enrol_campaign.campaign,
    enrol_campaign.cause, enrol_campaign.only_zone
  );
  enrolled := noted;
  return next;
end
$$;

-- The zones that a campaign's audience names; an empty one for none.
create or replace function tacet.campaign_zones(campaign text)
returns setof text
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = on
as $$
declare
  found_audience regproc;
begin
  select c.audience::regproc into found_audience
  from tacet.campaigns c
  where c.name = campaign_zones.campaign and c.is_active and c.is_scheduled;
  if found then
    return query execute
      format('select distinct coalesce(a.time_zone, '''') from %s(clock_timestamp(), null) a', found_audience);
  end if;
end
$$;

-- Serves the hours of a campaign that have come in these zones and that nobody has served: for two hours at most, because
-- a morning's word does not belong into the evening. Returns how many users it has noted.
create or replace function tacet.enrol_due(
  campaign text, standard_time time, zones text[], moment timestamptz default clock_timestamp()
)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  slot record;
  total bigint := 0;
begin
  for slot in
    select z.zone_name, d.local_day, s.due_at
    from tacet.campaigns c
    cross join unnest(enrol_due.zones) as z (zone_name)
    cross join lateral (select coalesce(tacet.known_zone(z.zone_name), 'UTC') as zone) k
    cross join lateral (select (enrol_due.moment at time zone k.zone)::date as local_day) d
    cross join lateral (
      select tacet.civil_instant(d.local_day + coalesce(c.local_time, enrol_due.standard_time), k.zone) as due_at
    ) s
    where c.name = enrol_due.campaign and c.is_active and c.is_scheduled
      and extract(isodow from d.local_day)::smallint = any (c.weekdays)
      and s.due_at <= enrol_due.moment and enrol_due.moment < s.due_at + interval '2 hours'
      and not exists (
        select
        from tacet.campaign_slots x
        where x.campaign = c.name and x.time_zone = z.zone_name and x.local_day = d.local_day)
    order by z.zone_name
  loop
    insert into tacet.campaign_slots (due_at, local_day, campaign, time_zone)
    values (slot.due_at, slot.local_day, enrol_due.campaign, slot.zone_name)
    on conflict do nothing;
    if found then
      total := total + coalesce(
        (
          select e.enrolled
          from tacet.enrol_campaign(enrol_due.campaign, slot.due_at, 'schedule', slot.zone_name, null) e
        ),
        0);
    end if;
  end loop;
  return total;
end
$$;

-- The zone in which a campaign counts a user's days; UTC for one whom it does not concern.
create or replace function tacet.campaign_zone(campaign text, user_id uuid)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  found_audience regproc;
  found_zone text;
begin
  select c.audience::regproc into found_audience from tacet.campaigns c where c.name = campaign_zone.campaign;
  if found then
    execute format('select tacet.known_zone(a.time_zone) from %s($1, $2) a limit 1', found_audience)
    into found_zone
    using clock_timestamp(), campaign_zone.user_id;
  end if;
  return coalesce(found_zone, 'UTC');
exception
  when others then
    return 'UTC';
end
$$;

-- What keeps a campaign from sending a push to a user now; null when nothing does. Whatever cannot be found out keeps it
-- back. push_type: null while it is not known.
create or replace function tacet.campaign_refusal(
  campaign text, user_id uuid, due_at timestamptz, local_day date, push_type text
)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  found_campaign tacet.campaigns;
  found_day record;
  found_zone text;
  found_gap int;
  wishes record;
  refusal text;
begin
  select c.* into found_campaign from tacet.campaigns c where c.name = campaign_refusal.campaign and c.is_active;
  if not found then
    return 'campaign_inactive';
  end if;
  execute format('select coalesce(tacet.known_zone(a.time_zone), ''UTC''), a.gap_days from %s($1, $2) a limit 1',
    found_campaign.audience::regproc)
  into found_zone, found_gap
  using clock_timestamp(), campaign_refusal.user_id;
  if found_zone is null then
    return 'not_in_audience';
  end if;
  select d.* into found_day from tacet.campaign_day(found_zone, found_gap, campaign_refusal.due_at) d;
  if (clock_timestamp() at time zone found_zone)::date <> found_day.local_day
    or found_day.local_day <> campaign_refusal.local_day
  then
    return 'day_over';
  end if;
  select g.reason into refusal
  from tacet.campaign_gate(
    campaign_refusal.user_id, found_campaign.needs_no_session, tacet.campaign_push_types(), found_day.local_day,
    found_day.day_start, found_day.day_end, found_day.gap_start
  ) g;
  if refusal is not null then
    return refusal;
  end if;
  if not exists (select from tacet.device_tokens(campaign_refusal.user_id)) then
    return 'no_tokens';
  end if;
  select p.is_opted_out, p.is_muted, p.quiet_hours_remaining into wishes
  from tacet.recipient_preferences(
    campaign_refusal.user_id, coalesce(campaign_refusal.push_type, ''), null, clock_timestamp()
  ) p;
  return case
    when wishes.is_opted_out then 'opted_out'
    when wishes.is_muted then 'muted'
    when wishes.quiet_hours_remaining > interval '0' then 'quiet_hours'
  end;
exception
  when others then
    raise warning 'tacet: cannot tell whether campaign % may send: % (%)', campaign_refusal.campaign, sqlerrm, sqlstate;
    return 'eligibility_unknown';
end
$$;

-- What is known of a user for a campaign, by its function; null when there is no such campaign.
create or replace function tacet.campaign_material(campaign text, user_id uuid)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  found_material regproc;
  material jsonb;
begin
  select c.material::regproc into found_material from tacet.campaigns c where c.name = campaign_material.campaign;
  if found then
    execute format('select %s($1, $2)', found_material) into material using campaign_material.user_id, clock_timestamp();
  end if;
  return material;
end
$$;

-- Ends a claimed decision without a push. Returns whether it was still the caller's.
create or replace function tacet.decide_campaign(
  campaign text, user_id uuid, local_day date, attempts int, decision text, reason text, layer text, inputs jsonb,
  input_tokens bigint, output_tokens bigint, cost_microdollars bigint
)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  update tacet.campaign_decisions d
  set
    decided_at = clock_timestamp(), decision = decide_campaign.decision, reason = decide_campaign.reason,
    layer = decide_campaign.layer, inputs = decide_campaign.inputs,
    input_tokens = d.input_tokens + decide_campaign.input_tokens,
    output_tokens = d.output_tokens + decide_campaign.output_tokens,
    cost_microdollars = d.cost_microdollars + decide_campaign.cost_microdollars
  where d.campaign = decide_campaign.campaign and d.user_id = decide_campaign.user_id
    and d.local_day = decide_campaign.local_day and d.attempts = decide_campaign.attempts and d.decision is null;
  return found;
end
$$;

-- Ends a claimed decision with a push, unless something keeps it back by now: cap, session and the rest are looked at in
-- this transaction, after the user's row of tacet.frequency_caps was locked, so that of any two the second sees the first.
-- Waits for the disk: a push that was sent and forgotten could be sent again tomorrow.
--
-- Returns why there is none, null when there is one; and the push's id. claim_lost: somebody else has decided, or will.
create or replace function tacet.commit_campaign_push(
  campaign text, user_id uuid, local_day date, attempts int, layer text, inputs jsonb, push_type text, title text,
  body text, data json, metadata jsonb, input_tokens bigint, output_tokens bigint, cost_microdollars bigint
)
returns table (reason text, push_id uuid)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  claimed tacet.campaign_decisions;
  moment timestamptz;
begin
  perform set_config('synchronous_commit', 'on', true);
  select d.* into claimed
  from tacet.campaign_decisions d
  where d.campaign = commit_campaign_push.campaign and d.user_id = commit_campaign_push.user_id
    and d.local_day = commit_campaign_push.local_day and d.attempts = commit_campaign_push.attempts
    and d.decision is null
  for update;
  if not found then
    reason := 'claim_lost';
    return next;
    return;
  end if;
  insert into tacet.frequency_caps (user_id) values (commit_campaign_push.user_id) on conflict do nothing;
  perform from tacet.frequency_caps f where f.user_id = commit_campaign_push.user_id for update;
  reason := tacet.campaign_refusal(
    commit_campaign_push.campaign, commit_campaign_push.user_id, claimed.due_at, commit_campaign_push.local_day,
    commit_campaign_push.push_type);
  if reason is null then
    moment := clock_timestamp();
    push_id := gen_random_uuid();
    insert into tacet.pushes (created_at, id, user_id, kind, title, body, data, metadata, quiet_policy)
    values (
      moment, commit_campaign_push.push_id, commit_campaign_push.user_id, commit_campaign_push.push_type,
      commit_campaign_push.title, commit_campaign_push.body, commit_campaign_push.data,
      commit_campaign_push.metadata || jsonb_build_object('due_at', extract(epoch from claimed.due_at)), 'drop'
    );
    insert into tacet.inbox (subject_id, kind, conversation_id, enqueued_at)
    values (
      commit_campaign_push.push_id, commit_campaign_push.push_type, commit_campaign_push.user_id, moment
    );
    update tacet.frequency_caps f
    set committed_at = moment, committed_day = commit_campaign_push.local_day
    where f.user_id = commit_campaign_push.user_id;
  end if;
  perform tacet.decide_campaign(
    commit_campaign_push.campaign, commit_campaign_push.user_id, commit_campaign_push.local_day,
    commit_campaign_push.attempts, case when commit_campaign_push.reason is null then 'committed' else 'skipped' end,
    commit_campaign_push.reason, commit_campaign_push.layer, commit_campaign_push.inputs,
    commit_campaign_push.input_tokens, commit_campaign_push.output_tokens, commit_campaign_push.cost_microdollars);
  update tacet.campaign_decisions d
  set push_id = commit_campaign_push.push_id
  where commit_campaign_push.push_id is not null and d.campaign = commit_campaign_push.campaign
    and d.user_id = commit_campaign_push.user_id and d.local_day = commit_campaign_push.local_day;
  return next;
end
$$;

-- Sets tokens and money of a day aside for a call of a language model, if the day's bounds leave so much. Returns whether
-- they did.
create or replace function tacet.reserve_model_usage(
  usage_day date, tokens bigint, microdollars bigint, tokens_max bigint, microdollars_max bigint
)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into tacet.model_usage (day) values (usage_day) on conflict do nothing;
  update tacet.model_usage u
  set
    reserved_tokens = u.reserved_tokens + tokens, reserved_microdollars = u.reserved_microdollars + microdollars,
    calls = u.calls + 1
  where u.day = usage_day
    and u.input_tokens + u.output_tokens + u.reserved_tokens + tokens <= tokens_max
    and u.cost_microdollars + u.reserved_microdollars + microdollars <= microdollars_max;
  return found;
end
$$;

-- Replaces what was set aside by what a call has really used, also when midnight lies between.
create or replace function tacet.settle_model_usage(
  usage_day date, tokens bigint, microdollars bigint, used_input bigint, used_output bigint, used_microdollars bigint
)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  update tacet.model_usage u
  set
    reserved_tokens = greatest(u.reserved_tokens - tokens, 0),
    reserved_microdollars = greatest(u.reserved_microdollars - microdollars, 0),
    input_tokens = u.input_tokens + used_input, output_tokens = u.output_tokens + used_output,
    cost_microdollars = u.cost_microdollars + used_microdollars
  where u.day = usage_day
$$;

-- A deleted user's ledger, preferences, pushes and decisions go with the user.
create or replace function tacet.forget_deleted_profiles()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
begin
  delete from public.push_log l using deleted where l.user_id = deleted.id;
  delete from tacet.deliveries d using deleted where d.user_id = deleted.id;
  delete from tacet.preferences p using deleted where p.user_id = deleted.id;
  delete from tacet.conversation_preferences c using deleted where c.user_id = deleted.id;
  delete from tacet.pushes p using deleted where p.user_id = deleted.id;
  delete from tacet.campaign_decisions d using deleted where d.user_id = deleted.id;
  delete from tacet.frequency_caps f using deleted where f.user_id = deleted.id;
  return null;
exception
  when others then
    perform tacet.count_trigger_failure(sqlstate, sqlerrm);
    return null;
end
$$;

-- As before; and what a campaign is, whose functions the service calls, is not the service's to say either.
create or replace function tacet.grant_service(service regrole)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  reserved regprocedure;
begin
  execute format('grant usage on schema tacet to %s', service);
  execute format('grant select, insert, update, delete on all tables in schema tacet to %s', service);
  execute format('revoke insert, update, delete on tacet.kinds, tacet.campaigns from %s', service);
  execute format('grant execute on all functions in schema tacet to %s', service);
  for reserved in
    select p.oid
    from pg_proc p
    where p.pronamespace = 'tacet'::regnamespace
      and (p.prorettype = 'trigger'::regtype or p.proname in ('watch', 'unwatch', 'grant_service'))
  loop
    execute format('revoke execute on function %s from %s', reserved, service);
  end loop;
end
$$;

-- The first campaign: a coach who remembers. It runs where PUSH_TRIGGER_ENABLED says so, and the host has its tables
-- (db/examples/coach.sql) or functions of its own.
insert into tacet.campaigns (name, audience, material, push_types, definition)
values (
  'coach', 'tacet.check_in_audience', 'tacet.check_in_material', '{event_based,pattern_based,re_engagement}',
  '{"layers": ["event", "pattern", "re_engagement"], "composer": {"kind": "model", "on_failure": "skip"},
    "payload": {"action": "new_conversation"}}'
)
on conflict (name) do nothing;

revoke all on all functions in schema tacet from public;

do $$
begin
  perform tacet.grant_services();
end
$$;

insert into tacet.migrations (version, name) values (18, '0018_campaigns') on conflict do nothing;

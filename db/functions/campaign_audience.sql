-- Whom a campaign may concern, and what keeps it from them.

-- Whether a campaign that comes with Tacet is to be inserted: once. What an operator has removed does not come back.
create or replace function tacet.offers_campaign(name text)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  update tacet.settings s
  set offered_campaigns = s.offered_campaigns || offers_campaign.name
  where offers_campaign.name <> all (s.offered_campaigns);
  return found;
end
$$;

-- The users whom a campaign considers for an hour: its audience without those whom the gate keeps back and those whose account
-- is gone. only_zone: null for all zones. guarded: uses the gate that isolates each user's errors.
--
-- What depends on zone and gap alone is computed once for each pair; the rest is an index look-up for each user. The zone is
-- compared inside the audience, so that the rest is read only for users of that zone.
--
-- local_time: when the user wants the push; null for the campaign's hour. after_user, users_max: a page of the audience, in the order of
-- ids, of which the last user is returned in any case, without a day when not considered; null for all users.
--
-- The service's sessions avoid sequential scans, because queues are mostly empty. For a whole audience they are the best plan; a page
-- follows the order of an index.
create or replace function tacet.campaign_eligible(
  campaign text, due_at timestamptz, only_zone text default null, only_user tacet.user_id default null,
  guarded boolean default false, after_user tacet.user_id default null, users_max bigint default null
)
returns table (user_id tacet.user_id, time_zone text, local_day date, local_time time)
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
  perform set_config('enable_seqscan', (users_max is null)::text, true);
  return query execute format(
    $query$
      with audience as materialized (
        select
          a.user_id, case when octet_length(a.time_zone) <= 64 then a.time_zone else '' end as zone_name, a.gap_days,
          a.local_time
        from (%s) a
        where a.refusal is null and %s %s %s
      ), places as materialized (
        select p.zone_name, p.gap_days, z.zone, d.local_day, d.day_start, d.day_end, d.gap_start
        from (select distinct a.zone_name, a.gap_days from audience a) p
        -- offset 0 keeps it at one call for each.
        cross join lateral (select coalesce(tacet.known_zone(p.zone_name), 'UTC') as zone offset 0) z
        cross join lateral tacet.campaign_day(z.zone, p.gap_days, $1) d
        where $2 is null or z.zone = $2
      )
      select a.user_id, p.zone, case when o.is_eligible then p.local_day end, a.local_time
      from audience a
      left join places p on p.zone_name = a.zone_name and p.gap_days = a.gap_days
      cross join lateral tacet.%I(a.user_id, $4, $5, $6, p.local_day, p.day_start, p.day_end, p.gap_start) g
      cross join lateral (
        select p.zone is not null and g.reason is null and ($7 or tacet.has_account(a.user_id)) as is_eligible offset 0
      ) o
      where o.is_eligible or a.user_id = %s
    $query$,
    tacet.audience_query(found_campaign.audience, '$1', '$3'),
    tacet.zone_filter(only_zone, '$2'), case when after_user is not null then 'and a.user_id > $8' else '' end,
    case when users_max is not null then 'order by a.user_id limit $9' else '' end,
    case when guarded then 'guarded_campaign_gate' else 'campaign_gate' end,
    case when users_max is not null then '(select l.user_id from audience l order by l.user_id desc limit 1)' else 'null' end)
  using
    campaign_eligible.due_at, campaign_eligible.only_zone, campaign_eligible.only_user, found_campaign.needs_no_session,
    found_campaign.cap_group, tacet.campaign_push_types(found_campaign.cap_group), not tacet.uses_accounts(), after_user,
    users_max;
end
$$;

-- The condition that a user a of an audience lives in a zone, as text; named: how the statement names the zone, such as $2. A zone that is
-- not known counts as UTC.
create or replace function tacet.zone_filter(zone text, named text)
returns text
language sql immutable
as $$
  select case
    when zone is null then 'true'
    -- No name has more than 64 bytes, so a text that is cut is not one.
    when zone = 'UTC' then
      $filter$
        (lower(left(a.time_zone, 65) collate "C") in (
          select z.spelling from tacet.time_zones z where tacet.known_zone(z.spelling) <> 'UTC'
        )) is not true
      $filter$
    -- An array, which is no table to join: the audience's other conditions are then asked about these users alone.
    else format(
      $filter$
        lower(left(a.time_zone, 65) collate "C") = any (array(
          select z.spelling
          from tacet.time_zones z
          where z.name = %1$s
            -- A name that the server has lost.
            or z.rules in (select o.rules from tacet.time_zones o where o.name = %1$s)
              and tacet.known_zone(z.spelling) = %1$s
        ))
      $filter$,
      named)
  end
$$;

-- Why a user of an audience gets no push of a campaign; null when nothing keeps it back. The moments come from
-- tacet.campaign_day for the hour that is served.
--
-- cap_group: of the campaign; null for one without a cap, which looks at no earlier push. push_types: of the group, by
-- tacet.campaign_push_types. A push in the ledger counts by its type, unless its metadata names a campaign outside the
-- group: campaigns of several groups may have the same types.
--
-- The ledger counts sent pushes and its own days: one push a day, whatever the gap. Two daily runs are a day apart, however
-- long each takes to compose. So a push counts from the hour it was composed for (due_at in its metadata), and that hour may
-- come half an hour early, because another scheduler's minute is not exact. Rows without a usable due_at count from the second
-- they were sent.
create or replace function tacet.campaign_gate(
  user_id tacet.user_id, needs_no_session boolean, cap_group text, push_types text[], local_day date, day_start timestamptz,
  day_end timestamptz, gap_start timestamptz
)
returns table (reason text)
language sql stable
as $$
  select
    case
      when exists (
        select from tacet.frequency_caps f
        where f.user_id = campaign_gate.user_id and f.cap_group = campaign_gate.cap_group
          and f.committed_day >= campaign_gate.local_day
      ) then 'pushed_today'
      when campaign_gate.cap_group is not null and exists (
        select from tacet.push_log l
        where l.user_id = campaign_gate.user_id and l.push_type = any (campaign_gate.push_types)
          and (l.push_type <> 'message') is true
          and l.sent_at > least(campaign_gate.gap_start, campaign_gate.day_start - interval '1 microsecond')
          and (
            l.sent_at >= campaign_gate.day_start
            or case
              -- Up to the year 5138: numbers of JSON may be larger than any time.
              when jsonb_typeof(l.metadata -> 'due_at') = 'number' and l.metadata -> 'due_at' between '0' and '1e11'
                then to_timestamp((l.metadata ->> 'due_at')::float8) - interval '30 minutes'
              else l.sent_at
            end > campaign_gate.gap_start)
          and (
            l.metadata ->> 'campaign' in (
              select c.name from tacet.campaigns c where c.cap_group is distinct from campaign_gate.cap_group)
          ) is not true
      ) then 'recently_pushed'
      when campaign_gate.needs_no_session and exists (
        select from tacet.sessions_between(campaign_gate.user_id, campaign_gate.day_start, campaign_gate.day_end)
      ) then 'session_today'
    end
$$;

-- The gate for one user at a time. It is slower, but a user whose rows raise an error is the only one kept back.
create or replace function tacet.guarded_campaign_gate(
  user_id tacet.user_id, needs_no_session boolean, cap_group text, push_types text[], local_day date, day_start timestamptz,
  day_end timestamptz, gap_start timestamptz
)
returns table (reason text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select g.reason into reason
  from tacet.campaign_gate(
    user_id, needs_no_session, cap_group, push_types, local_day, day_start, day_end, gap_start
  ) g;
  return next;
exception
  when others then
    reason := 'eligibility_unknown';
    return next;
end
$$;

-- The push types of all campaigns of a group, which share one cap; empty for null.
create or replace function tacet.campaign_push_types(cap_group text)
returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(array_agg(distinct t.push_type), '{}')
  from tacet.campaigns c
  cross join unnest(c.push_types) as t (push_type)
  where c.cap_group = campaign_push_types.cap_group
$$;

-- A user's day at a moment, and the moment gap_days earlier by the user's clock. At most a year earlier, because the number
-- may come from the host.
create or replace function tacet.campaign_day(zone text, gap_days int, moment timestamptz)
returns table (local_day date, day_start timestamptz, day_end timestamptz, gap_start timestamptz)
language sql stable
as $$
  select
    d.local_time::date, tacet.civil_instant(d.local_time::date, zone), tacet.civil_instant(d.local_time::date + 1, zone),
    tacet.civil_instant(d.local_time - least(greatest(gap_days, 0), 366) * interval '1 day', zone)
  from (select moment at time zone zone as local_time) d
$$;

-- The zone in which a campaign counts a user's days; UTC for a user outside its audience.
create or replace function tacet.campaign_zone(campaign text, user_id tacet.user_id)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  found_audience text;
  found_zone text;
begin
  select c.audience into found_audience from tacet.campaigns c where c.name = campaign_zone.campaign;
  if found then
    execute format(
      'select tacet.known_zone(a.time_zone) from (%s) a limit 1', tacet.audience_query(found_audience, '$1', '$2'))
    into found_zone
    using clock_timestamp(), campaign_zone.user_id;
  end if;
  return coalesce(found_zone, 'UTC');
exception
  when others then
    return 'UTC';
end
$$;

-- The zones of a campaign's audience; UTC for users without a known zone.
create or replace function tacet.campaign_zones(campaign text)
returns setof text
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = on
as $$
declare
  found_audience text;
begin
  select c.audience into found_audience
  from tacet.campaigns c
  where c.name = campaign_zones.campaign and c.is_active and c.is_scheduled;
  if found then
    return query execute format(
      $query$
        select distinct coalesce(tacet.known_zone(n.zone_name), 'UTC')
        from (
          select distinct case when octet_length(a.time_zone) <= 64 then a.time_zone end as zone_name
          from (%s) a
        ) n
      $query$,
      tacet.audience_query(found_audience, '$1', 'null'))
    using clock_timestamp();
  end if;
end
$$;

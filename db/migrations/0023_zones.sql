-- Time zones are what hosts and their users write. Each is read through tacet.known_zone, which bounds it, and answers with
-- the one spelling that everything else keeps: quiet hours, devices, days and hours of campaigns.
--
-- Also: an hour of a campaign that cannot be served keeps no other from being served, one user whose rows make a rule fail
-- keeps no other from being noted, and who has no account any more is noted for nothing.
--
-- Locks: only new objects, and functions are replaced. A running older service is not affected.

-- The zones of the tz database that this server has, each once. A table, because PostgreSQL looks through folders of files
-- for each name that it does not know, and remembers for good whatever has the form of a POSIX rule, such as FOO+99.
create table if not exists tacet.time_zones (
  spelling text collate "C" primary key,
  name text not null
);

comment on table tacet.time_zones is 'names of time zones; filled by tacet.learn_time_zones()';

-- Adds what the server's tz database has by now. Called by every tacet migrate: zones are added once or twice a year.
create or replace function tacet.learn_time_zones()
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into tacet.time_zones (spelling, name)
  select lower(z.name collate "C"), z.name
  from pg_timezone_names z
  where z.name !~ '^(posix|right)/|^(Factory|localtime|posixrules)$' and octet_length(z.name) <= 64
  on conflict do nothing
$$;

do $$
begin
  perform tacet.learn_time_zones();
end
$$;

-- A zone's name as the tz database spells it; null for anything else. The longest name has 32 bytes, so a text beyond 64 is
-- neither read nor compared. A name that is noted and that the server has lost since is none.
create or replace function tacet.known_zone(zone text)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  known text;
begin
  if octet_length(zone) > 64 then
    return null;
  end if;
  select z.name into known from tacet.time_zones z where z.spelling = lower(zone collate "C");
  if found then
    perform now() at time zone known;
  end if;
  return known;
exception
  when invalid_parameter_value then
    return null;
end
$$;

-- Whether times of day can be told in a zone.
create or replace function tacet.is_time_zone(name text)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select tacet.known_zone(name) is not null
$$;

-- How long the quiet hours last that a moment falls into; null outside of them, and in a zone that is none: then nobody
-- knows, and a push is better than silence.
--
-- The quiet hours of a local day begin with the instant of quiet_start on that day, which belongs to them, and end before
-- that of quiet_end, on the same day or, when that is not later, on the next. A clock change may move an end, by as much as
-- a whole day where a zone changed its side of the date line, so the days around the present one are looked at.
create or replace function tacet.quiet_hours_remaining(quiet_start time, quiet_end time, zone text, moment timestamptz)
returns interval
language plpgsql stable
as $$
declare
  known text := tacet.known_zone(zone);
begin
  return (
    select max(q.ends_at) - moment
    from generate_series(-2, 1) as days (since_today)
    cross join lateral (select (moment at time zone known)::date + days.since_today as first_day) d
    cross join lateral (
      select
        tacet.civil_instant(d.first_day + quiet_start, known) as starts_at,
        tacet.civil_instant(d.first_day + (quiet_end <= quiet_start)::int + quiet_end, known) as ends_at
    ) q
    where q.starts_at <= moment and moment < q.ends_at);
end
$$;

-- Whether a user has an account: one who is gone from auth.users is gone, although rows of the host may remain. True where
-- there is no such table, and for a role that may not read it.
create or replace function tacet.has_account(user_id uuid)
returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regclass('auth.users') is null then
    return true;
  end if;
  return exists (select from auth.users u where u.id = has_account.user_id);
exception
  when undefined_column or undefined_function or insufficient_privilege then
    return true;
end
$$;

-- Whether the host's users are those of auth.users at all: a project may have that table and log its users in elsewhere. So
-- it is when any profile has an account.
create or replace function tacet.uses_accounts()
returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regclass('auth.users') is null then
    return false;
  end if;
  return exists (select from auth.users u where exists (select from public.profiles p where p.id = u.id));
exception
  when undefined_table or undefined_column or undefined_function or insufficient_privilege then
    return false;
end
$$;

-- A user's day at a moment, and the moment so many days earlier by the user's clock; a year earlier at the most, because
-- the number may be the host's.
create or replace function tacet.campaign_day(zone text, gap_days int, moment timestamptz)
returns table (local_day date, day_start timestamptz, day_end timestamptz, gap_start timestamptz)
language sql stable
as $$
  select
    d.local_time::date, tacet.civil_instant(d.local_time::date, zone), tacet.civil_instant(d.local_time::date + 1, zone),
    tacet.civil_instant(d.local_time - least(greatest(gap_days, 0), 366) * interval '1 day', zone)
  from (select moment at time zone zone as local_time) d
$$;

set check_function_bodies = off;

-- Functions of the host contract are replaced where they are the defaults.
do $$
begin
  if md5((
    select regexp_replace(p.prosrc, '\s+', ' ', 'g')
    from pg_proc p
    where p.oid = to_regprocedure('tacet.user_time_zone(uuid)')
  )) = '079931aa3de3d07bd370012911e76ced' then
    create or replace function tacet.user_time_zone(user_id uuid)
    returns text
    language plpgsql stable
    as $function$
    #variable_conflict use_column
    begin
      return tacet.known_zone((
        select t.time_zone
        from public.push_tokens t
        where t.user_id = user_time_zone.user_id and t.invalidated_at is null and t.time_zone is not null
        order by t.registered_at desc
        limit 1));
    end
    $function$;
  end if;
  if md5((
    select regexp_replace(p.prosrc, '\s+', ' ', 'g')
    from pg_proc p
    where p.oid = to_regprocedure('tacet.check_in_audience(timestamptz, uuid)')
  )) = 'b1ea955cd049f574eba7432df9f8e4b2' then
    -- Where the profile names no zone, the newest device's counts.
    create or replace function tacet.check_in_audience(moment timestamptz, only_user uuid)
    returns table (user_id uuid, time_zone text, gap_days int)
    language sql stable
    as $function$
      select
        p.user_id,
        -- What tacet.known_zone looks up; of everybody a call for each would take longer than all else.
        coalesce(
          (
            select z.name
            from tacet.time_zones z
            where z.spelling = case when octet_length(p.time_zone) <= 64 then lower(p.time_zone collate "C") end
          ),
          tacet.user_time_zone(p.user_id)),
        case p.notification_preferences ->> 'frequency' when 'daily' then 1 when 'few_times_a_week' then 2 else 7 end
      from public.context_profiles p
      where p.notification_preferences -> 'check_ins_enabled' = 'true'
        and p.notification_preferences ->> 'frequency' in ('daily', 'few_times_a_week', 'weekly')
        and (check_in_audience.only_user is null or p.user_id = check_in_audience.only_user)
        and exists (select from public.push_tokens t where t.user_id = p.user_id and t.invalidated_at is null)
    $function$;
  end if;
end
$$;

-- What keeps a user of an audience from a push of any campaign; null when nothing does. The moments are of
-- tacet.campaign_day for the hour that is served.
--
-- The ledger counts by what was sent, and its own days: one push on a day, whatever the gap. Two pushes of two daily runs
-- lie a day apart when the runs do, however long each took to write its push; so a push counts from the hour it was written
-- for (its metadata's due_at), and that may come half an hour early, because another scheduler's minute is not exact. Rows
-- without that hour, or with one that is no time, count from the second they were sent.
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
              -- To the year 5138: numbers of JSON may be larger than any time.
              when jsonb_typeof(l.metadata -> 'due_at') = 'number' and l.metadata -> 'due_at' between '0' and '1e11'
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

-- The same for each user apart, slower: one whose rows make it fail is kept back, and no other.
create or replace function tacet.guarded_campaign_gate(
  user_id uuid, needs_no_session boolean, push_types text[], local_day date, day_start timestamptz, day_end timestamptz,
  gap_start timestamptz
)
returns table (reason text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  select g.reason into reason
  from tacet.campaign_gate(user_id, needs_no_session, push_types, local_day, day_start, day_end, gap_start) g;
  return next;
exception
  when others then
    reason := 'eligibility_unknown';
    return next;
end
$$;

drop function if exists tacet.campaign_eligible(text, timestamptz, text, uuid);

-- Whom a campaign would look at for an hour: its audience without those whom the gate keeps back and those whose account is
-- gone; of one zone, or of all. guarded: by the gate that keeps users apart.
--
-- What depends on zone and gap alone is computed once for each; everything else is a look-up in an index for each user.
--
-- The service's sessions avoid sequential scans, for the sake of queues that are mostly empty; of everybody they are best.
create or replace function tacet.campaign_eligible(
  campaign text, due_at timestamptz, only_zone text default null, only_user uuid default null,
  guarded boolean default false
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
        select
          a.user_id, case when octet_length(a.time_zone) <= 64 then a.time_zone else '' end as zone_name, a.gap_days
        from %s($1, $3) a
      ), places as materialized (
        select p.zone_name, p.gap_days, z.zone, d.local_day, d.day_start, d.day_end, d.gap_start
        from (select distinct a.zone_name, a.gap_days from audience a) p
        -- offset 0: so that it is asked once for each.
        cross join lateral (select coalesce(tacet.known_zone(p.zone_name), 'UTC') as zone offset 0) z
        cross join lateral tacet.campaign_day(z.zone, p.gap_days, $1) d
        where $2 is null or z.zone = $2
      )
      select a.user_id, p.zone, p.local_day
      from audience a
      join places p on p.zone_name = a.zone_name and p.gap_days = a.gap_days
      cross join lateral tacet.%I(a.user_id, $4, $5, p.local_day, p.day_start, p.day_end, p.gap_start) g
      where g.reason is null and ($6 or tacet.has_account(a.user_id))
    $query$,
    found_campaign.audience::regproc, case when guarded then 'guarded_campaign_gate' else 'campaign_gate' end)
  using
    campaign_eligible.due_at, campaign_eligible.only_zone, campaign_eligible.only_user, found_campaign.needs_no_session,
    tacet.campaign_push_types(), not tacet.uses_accounts();
end
$$;

-- Notes those whom a campaign is to look at, for a run; how many were not noted for the same day before.
create or replace function tacet.note_eligible(
  campaign text, due_at timestamptz, run_id uuid, only_zone text, only_user uuid, guarded boolean
)
returns int
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  noted int;
begin
  insert into tacet.campaign_decisions (due_at, local_day, user_id, run_id, campaign, time_zone)
  select note_eligible.due_at, e.local_day, e.user_id, note_eligible.run_id, note_eligible.campaign, e.time_zone
  from tacet.campaign_eligible(
    note_eligible.campaign, note_eligible.due_at, note_eligible.only_zone, note_eligible.only_user, note_eligible.guarded
  ) e
  on conflict do nothing;
  get diagnostics noted = row_count;
  return noted;
end
$$;

-- Notes everybody whom a campaign is to look at for an hour; who was noted for the same day before is not noted again.
-- Where that fails for all together, each user is asked about apart. No row when there is no such campaign, or it is not
-- active.
create or replace function tacet.enrol_campaign(
  campaign text, due_at timestamptz, cause text, only_zone text default null, only_user uuid default null
)
returns table (run_id uuid, enrolled int)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from tacet.campaigns c where c.name = enrol_campaign.campaign and c.is_active) then
    return;
  end if;
  run_id := gen_random_uuid();
  begin
    enrolled := tacet.note_eligible(campaign, due_at, run_id, only_zone, only_user, false);
  exception
    when others then
      raise warning 'tacet: campaign % asks about each user apart: % (%)', campaign, sqlerrm, sqlstate;
      enrolled := tacet.note_eligible(campaign, due_at, run_id, only_zone, only_user, true);
  end;
  insert into tacet.campaign_runs (id, due_at, enrolled, only_user, campaign, cause, time_zone)
  values (
    enrol_campaign.run_id, enrol_campaign.due_at, enrol_campaign.enrolled, enrol_campaign.only_user,
    enrol_campaign.campaign, enrol_campaign.cause, enrol_campaign.only_zone
  );
  return next;
end
$$;

-- The zones in which a campaign's audience lives; UTC for those of whom nobody knows.
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
    return query execute format(
      $query$
        select distinct coalesce(tacet.known_zone(n.zone_name), 'UTC')
        from (
          select distinct case when octet_length(a.time_zone) <= 64 then a.time_zone end as zone_name
          from %s(clock_timestamp(), null) a
        ) n
      $query$,
      found_audience);
  end if;
end
$$;

-- The hours of a campaign that have come in these zones and that nobody has served: for two hours at most, because a
-- morning's word does not belong into the evening.
create or replace function tacet.due_slots(
  campaign text, standard_time time, zones text[], moment timestamptz default clock_timestamp()
)
returns table (time_zone text, local_day date, due_at timestamptz)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select k.zone, d.local_day, s.due_at
  from tacet.campaigns c
  cross join (
    select distinct coalesce(tacet.known_zone(z.zone_name), 'UTC') as zone from unnest(due_slots.zones) as z (zone_name)
  ) k
  cross join lateral (select (due_slots.moment at time zone k.zone)::date as local_day) d
  cross join lateral (
    select tacet.civil_instant(d.local_day + coalesce(c.local_time, due_slots.standard_time), k.zone) as due_at
  ) s
  where c.name = due_slots.campaign and c.is_active and c.is_scheduled
    and extract(isodow from d.local_day)::smallint = any (c.weekdays)
    and s.due_at <= due_slots.moment and due_slots.moment < s.due_at + interval '2 hours'
    and not exists (
      select
      from tacet.campaign_slots x
      where x.campaign = c.name and x.time_zone = k.zone and x.local_day = d.local_day)
  order by k.zone
$$;

-- Serves an hour of a campaign in one zone, unless somebody else has. Returns how many users it has noted. The service
-- calls it once for each hour, so that one which fails, or takes too long, is undone alone, and is due again.
create or replace function tacet.enrol_slot(campaign text, time_zone text, local_day date, due_at timestamptz)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into tacet.campaign_slots (due_at, local_day, campaign, time_zone)
  values (enrol_slot.due_at, enrol_slot.local_day, enrol_slot.campaign, enrol_slot.time_zone)
  on conflict do nothing;
  if not found then
    return 0;
  end if;
  return coalesce(
    (select e.enrolled from tacet.enrol_campaign(campaign, due_at, 'schedule', time_zone, null) e), 0);
end
$$;

-- Serves all hours that are due; what services of an older version call. One that fails is told of, and stays due.
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
  for slot in select s.* from tacet.due_slots(campaign, standard_time, zones, moment) s loop
    begin
      total := total + tacet.enrol_slot(campaign, slot.time_zone, slot.local_day, slot.due_at);
    exception
      when others then
        raise warning 'tacet: campaign % cannot serve its hour in %: % (%)', campaign, slot.time_zone, sqlerrm, sqlstate;
    end;
  end loop;
  return total;
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
  if not tacet.has_account(campaign_refusal.user_id) and tacet.uses_accounts() then
    return 'no_account';
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

revoke all on all functions in schema tacet from public;

do $$
begin
  perform tacet.grant_services();
end
$$;

insert into tacet.migrations (version, name) values (23, '0023_zones') on conflict do nothing;

-- The hour of one zone reads on only for those who live there: names of zones are compared before devices, ledger and
-- sessions are looked up. And what a push of a campaign leaves in the ledger is bounded.
--
-- Locks: ACCESS EXCLUSIVE on tacet.pushes for an instant; its rows are not read. Functions are replaced. A running older
-- service is not affected.

set check_function_bodies = off;

-- Part of the host contract; replaced where it is the default.
do $$
begin
  if md5((
    select regexp_replace(p.prosrc, '\s+', ' ', 'g')
    from pg_proc p
    where p.oid = to_regprocedure('tacet.check_in_audience(timestamptz, uuid)')
  )) = 'd6ff604304bead9685d00d2315917cb7' then
    -- Where the profile names no zone, the zone of the newest device counts. Nearly all profiles spell a zone as the server
    -- does: these are told by one hash table, the others by a look-up for each.
    create or replace function tacet.check_in_audience(moment timestamptz, only_user uuid)
    returns table (user_id uuid, time_zone text, gap_days int)
    language sql stable
    as $function$
      select
        p.user_id,
        case
          when case when octet_length(p.time_zone) <= 64 then p.time_zone end in (select z.name from tacet.time_zones z)
            then p.time_zone
          else coalesce(tacet.known_zone(p.time_zone), tacet.user_time_zone(p.user_id))
        end,
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

reset check_function_bodies;

-- Whom a campaign would look at for an hour: its audience without those whom the gate keeps back and those whose account is
-- gone; of one zone, or of all. guarded: by the gate that keeps users apart.
--
-- What depends on zone and gap alone is computed once for each; everything else is a look-up in an index for each user. A
-- zone is compared inside the audience, which reads on only for those who live there. UTC is also the zone of those whose
-- zone nobody knows.
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
        where %s
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
    found_campaign.audience::regproc,
    case
      when campaign_eligible.only_zone is null then 'true'
      -- No name has more than 64 bytes, so what is cut is none.
      when campaign_eligible.only_zone = 'UTC' then
        $filter$
          (lower(left(a.time_zone, 65) collate "C") in (
            select z.spelling from tacet.time_zones z where tacet.known_zone(z.name) <> 'UTC'
          )) is not true
        $filter$
      -- Lengths first: they cost a fraction, and rarely agree.
      else
        $filter$
          octet_length(a.time_zone) = octet_length($2) and lower(a.time_zone collate "C") = lower($2 collate "C")
        $filter$
    end,
    case when guarded then 'guarded_campaign_gate' else 'campaign_gate' end)
  using
    campaign_eligible.due_at, campaign_eligible.only_zone, campaign_eligible.only_user, found_campaign.needs_no_session,
    tacet.campaign_push_types(), not tacet.uses_accounts();
end
$$;

-- The ledger takes a push's metadata over, and every reader of the ledger reads it. Those that the service writes have some
-- hundred bytes.
do $$
begin
  if not exists (
    select from pg_constraint c where c.conrelid = 'tacet.pushes'::regclass and c.conname = 'pushes_metadata_check'
  ) then
    alter table tacet.pushes
      add constraint pushes_metadata_check check (octet_length(metadata::text) <= 4096) not valid;
  end if;
end
$$;

revoke all on all functions in schema tacet from public;

do $$
begin
  perform tacet.grant_services();
end
$$;

insert into tacet.migrations (version, name) values (26, '0026_campaign_slots') on conflict do nothing;

-- The hours of campaigns: which are due, and the enrolment of their users.

-- The hour of a campaign on a day in a zone; null on a day on which it does not come.
create or replace function tacet.campaign_hour(campaign tacet.campaigns, standard_time time, zone text, day date)
returns timestamptz
language sql stable
as $$
  select case
    when extract(isodow from day)::smallint = any (campaign.weekdays)
      then tacet.civil_instant(day + coalesce(campaign.local_time, standard_time), zone)
  end
$$;

-- The hours of a campaign that have come and are not served yet, with the zones in which they have. An hour stays due for two hours,
-- because a morning's push does not belong in the evening.
create or replace function tacet.due_hours(
  campaign text, standard_time time, moment timestamptz default clock_timestamp()
)
returns table (due_at timestamptz, zones text[])
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select h.due_at, array_agg(h.zone)
  from (
    select k.zone, tacet.campaign_hour(c, due_hours.standard_time, k.zone, (due_hours.moment at time zone k.zone)::date) as due_at
    from tacet.campaigns c
    cross join tacet.known_zones() as k (zone)
    where c.name = due_hours.campaign and c.is_active and c.is_scheduled
    -- Each hour is computed once.
    offset 0
  ) h
  where h.due_at <= due_hours.moment and due_hours.moment < h.due_at + interval '2 hours'
    and not exists (
      select from tacet.campaign_runs r
      where r.campaign = due_hours.campaign and r.due_at = h.due_at and r.cause = 'schedule' and r.finished_at is not null)
  group by h.due_at
  order by h.due_at
$$;

-- Enrols the users whom a campaign considers for an hour; a user is enrolled once a day. Who has moved since an enrolment is due at the
-- wanted time of the new zone. zones: in which the hour has come, and which are served once; their users are due at the time that they
-- want. Null for a request, whose users are due at once. users_max: users of a page of the audience, in the order of their ids; the next
-- call goes on after them, whichever process makes it, so that a page that fails or takes too long is undone alone; null for all at once.
-- request: the run of a request that goes on; null for a new one. No row when the hour or the run is over, another process has it, there is
-- no such campaign, or it is not active, which ends a request.
create or replace function tacet.enrol_campaign(
  campaign text, due_at timestamptz, zones text[] default null, only_user tacet.user_id default null, users_max bigint default null,
  request uuid default null
)
returns table (run_id uuid, enrolled int, is_finished boolean)
language plpgsql volatile
as $$
#variable_conflict use_variable
declare
  found_campaign tacet.campaigns;
  seen_user tacet.user_id;
  seen_zones text[];
  is_guarded boolean;
begin
  select c.* into found_campaign from tacet.campaigns c where c.name = campaign and c.is_active;
  if not found then
    update tacet.campaign_runs r set finished_at = clock_timestamp() where r.id = request;
    return;
  end if;
  run_id := coalesce(request, gen_random_uuid());
  insert into tacet.campaign_runs (id, due_at, only_user, campaign, cause)
  select run_id, due_at, only_user, campaign, case when zones is null then 'request' else 'schedule' end
  -- Not left to the conflict, which waits for whoever is at a page.
  where request is null and (zones is null or not exists (
    select from tacet.campaign_runs r where r.campaign = campaign and r.due_at = due_at and r.cause = 'schedule'))
  on conflict do nothing;
  if zones is not null then
    select r.id into run_id from tacet.campaign_runs r where r.campaign = campaign and r.due_at = due_at and r.cause = 'schedule';
  end if;
  select r.last_user into seen_user from tacet.campaign_runs r where r.id = run_id and r.finished_at is null for update skip locked;
  if not found then
    return;
  end if;
  foreach is_guarded in array array[false, true] loop
    begin
      with page as materialized (
        select p.* from tacet.campaign_page(found_campaign, due_at, zones, only_user, seen_user, users_max, is_guarded) p
      ), entered as (
        insert into tacet.occasions (fire_at, available_at, fire_date, user_id, run_id, campaign, time_zone)
        select w.due_at, greatest(w.due_at, clock_timestamp()), p.local_day, p.user_id, run_id, campaign, p.time_zone
        from page p
        cross join lateral (
          select case
            when p.local_time is null or zones is null then due_at
            else greatest(tacet.civil_instant(p.local_day + p.local_time, p.time_zone), due_at)
          end as due_at
        ) w
        where p.is_considered
        on conflict do nothing
        returning 1
      ), moved as (
        -- None that was claimed is.
        update tacet.occasions d
        set fire_at = w.due_at, available_at = w.due_at, time_zone = w.time_zone
        from (
          select
            f.row_place, p.time_zone,
            greatest(tacet.civil_instant(p.pending_day + p.local_time, p.time_zone), clock_timestamp()) as due_at
          from page p
          cross join lateral (
            select x.ctid as row_place
            from tacet.occasions x
            where x.user_id = p.user_id and x.campaign = campaign and x.slot = '' and x.fire_date = p.pending_day
              and x.status = 'scheduled' and x.attempts = 0
            limit 1
            for update skip locked
          ) f
          where p.pending_day is not null
        ) w
        where d.ctid = w.row_place
      )
      select
        (select count(*) from entered), coalesce(count(*) < users_max, true),
        (select l.user_id from page l order by l.user_id desc limit 1), array_agg(distinct p.time_zone)
      into enrolled, is_finished, seen_user, seen_zones
      from page p;
      exit;
    exception
      when others then
        if is_guarded then
          raise;
        end if;
        raise warning 'tacet: campaign % asks its users apart: % (%)', campaign, sqlerrm, sqlstate;
    end;
  end loop;
  update tacet.campaign_runs r
  set
    enrolled = r.enrolled + enrolled,
    zones = array(select distinct n.zone from unnest(r.zones || seen_zones) as n (zone) where n.zone is not null order by 1),
    last_user = case when not is_finished then seen_user end,
    finished_at = case when is_finished then clock_timestamp() end
  where r.id = run_id;
  return next;
end
$$;

-- The hours of campaigns: which are due, and the enrolment of their users.

-- The hours of a campaign that have come in these zones and are not served yet. An hour stays due for two hours, because a
-- morning's push does not belong in the evening.
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
      select from tacet.campaign_slots x
      where x.campaign = c.name and x.time_zone = k.zone and x.local_day = d.local_day)
  order by k.zone
$$;

-- Serves an hour of a campaign in one zone, unless it is served. Returns the number of users enrolled. The service calls it
-- once for each hour: one that fails or takes too long is undone alone, and stays due.
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

-- Enrols the users whom a campaign considers for an hour; a user is enrolled once a day. Where that fails for all users
-- together, it tries them one by one. No row when there is no such campaign, or it is not active.
create or replace function tacet.enrol_campaign(
  campaign text, due_at timestamptz, cause text, only_zone text default null, only_user tacet.user_id default null
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

-- Writes the decisions that a run opens. Users of a scheduled run, which has a zone, are due at the time that they want, and the
-- others at once. Returns the number of users who were not enrolled for the same day before.
create or replace function tacet.note_eligible(
  campaign text, due_at timestamptz, run_id uuid, only_zone text, only_user tacet.user_id, guarded boolean
)
returns int
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  noted int;
begin
  insert into tacet.campaign_decisions (due_at, available_at, local_day, user_id, run_id, campaign, time_zone)
  select
    w.due_at, greatest(w.due_at, clock_timestamp()), e.local_day, e.user_id, note_eligible.run_id, note_eligible.campaign,
    e.time_zone
  from tacet.campaign_eligible(
    note_eligible.campaign, note_eligible.due_at, note_eligible.only_zone, note_eligible.only_user, note_eligible.guarded
  ) e
  cross join lateral (
    select case
      when e.local_time is null or note_eligible.only_zone is null then note_eligible.due_at
      else greatest(tacet.civil_instant(e.local_day + e.local_time, e.time_zone), note_eligible.due_at)
    end as due_at
  ) w
  on conflict do nothing;
  get diagnostics noted = row_count;
  return noted;
end
$$;

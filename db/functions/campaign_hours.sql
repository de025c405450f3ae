-- The hours of campaigns: which are due, and the enrolment of their users.

-- The hours of a campaign that have come in these zones and are not served yet. An hour stays due for two hours, because a
-- morning's push does not belong in the evening.
create or replace function tacet.due_hours(
  campaign text, standard_time time, zones text[], moment timestamptz default clock_timestamp()
)
returns table (time_zone text, local_day date, due_at timestamptz)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select k.zone, d.local_day, s.due_at
  from tacet.campaigns c
  cross join (
    select distinct coalesce(tacet.known_zone(z.zone_name), 'UTC') as zone from unnest(due_hours.zones) as z (zone_name)
  ) k
  cross join lateral (select (due_hours.moment at time zone k.zone)::date as local_day) d
  cross join lateral (
    select tacet.civil_instant(d.local_day + coalesce(c.local_time, due_hours.standard_time), k.zone) as due_at
  ) s
  where c.name = due_hours.campaign and c.is_active and c.is_scheduled
    and extract(isodow from d.local_day)::smallint = any (c.weekdays)
    and s.due_at <= due_hours.moment and due_hours.moment < s.due_at + interval '2 hours'
    and not exists (
      select from tacet.campaign_runs x
      where x.campaign = c.name and x.time_zone = k.zone and x.local_day = d.local_day and x.finished_at is not null)
  order by k.zone
$$;

-- Enrols the users whom a campaign considers for an hour; a user is enrolled once a day. Where that fails for all users
-- together, it tries them one by one. local_day: of an hour in one zone, which is served once. users_max: users of a page, in the order
-- of their ids; the next call goes on after them, whichever process makes it, so that a page that fails or takes too long is undone
-- alone; null for all at once. No row when the hour is served or another process serves it, there is no such campaign, or it is not active.
create or replace function tacet.enrol_campaign(
  campaign text, due_at timestamptz, only_zone text default null, local_day date default null,
  only_user tacet.user_id default null, users_max bigint default null
)
returns table (run_id uuid, enrolled int, is_finished boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  seen_user tacet.user_id;
  was_active boolean;
begin
  run_id := gen_random_uuid();
  insert into tacet.campaign_runs (id, due_at, local_day, only_user, campaign, cause, time_zone)
  select
    enrol_campaign.run_id, enrol_campaign.due_at, enrol_campaign.local_day, enrol_campaign.only_user, c.name,
    case when enrol_campaign.local_day is null then 'request' else 'schedule' end, enrol_campaign.only_zone
  from tacet.campaigns c
  where c.name = enrol_campaign.campaign and c.is_active
    -- Not left to the conflict, which waits for whoever is at a page.
    and not exists (
      select from tacet.campaign_runs r
      where r.campaign = c.name and r.time_zone = enrol_campaign.only_zone and r.local_day = enrol_campaign.local_day)
  on conflict do nothing;
  select r.id, r.last_user into run_id, seen_user
  from tacet.campaign_runs r
  where r.finished_at is null and case
      when enrol_campaign.local_day is null then r.id = enrol_campaign.run_id
      else r.campaign = enrol_campaign.campaign and r.time_zone = enrol_campaign.only_zone
        and r.local_day = enrol_campaign.local_day
    end
  for update skip locked;
  if not found then
    return;
  end if;
  begin
    select n.noted, n.last_user, n.is_active into enrolled, seen_user, was_active
    from tacet.note_eligible(campaign, due_at, run_id, only_zone, only_user, seen_user, users_max, false) n;
  exception
    when others then
      raise warning 'tacet: campaign % asks about each user apart: % (%)', campaign, sqlerrm, sqlstate;
      select n.noted, n.last_user, n.is_active into enrolled, seen_user, was_active
      from tacet.note_eligible(campaign, due_at, run_id, only_zone, only_user, seen_user, users_max, true) n;
  end;
  -- Of a campaign that is off there is no page, which does not end the hour.
  if not was_active then
    return;
  end if;
  is_finished := users_max is null or seen_user is null;
  update tacet.campaign_runs r
  set
    enrolled = r.enrolled + enrol_campaign.enrolled, last_user = case when not is_finished then seen_user end,
    finished_at = case when is_finished then clock_timestamp() end
  where r.id = enrol_campaign.run_id;
  return next;
end
$$;

-- Writes the occasions that a run opens. Users of a scheduled run, which has a zone, are due at the time that they want, and the
-- others at once. noted: the number of users who were not enrolled for the same day before. last_user: of the page; null for one without
-- users. is_active: the campaign, when they were looked for.
create or replace function tacet.note_eligible(
  campaign text, due_at timestamptz, run_id uuid, only_zone text, only_user tacet.user_id, after_user tacet.user_id,
  users_max bigint, guarded boolean
)
returns table (noted int, last_user tacet.user_id, is_active boolean)
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  with page as materialized (
    select e.*
    from tacet.campaign_eligible(
      note_eligible.campaign, note_eligible.due_at, note_eligible.only_zone, note_eligible.only_user, note_eligible.guarded,
      note_eligible.after_user, note_eligible.users_max
    ) e
  ), entered as (
    insert into tacet.occasions (fire_at, available_at, fire_date, user_id, run_id, campaign, time_zone)
    select
      w.due_at, greatest(w.due_at, clock_timestamp()), e.local_day, e.user_id, note_eligible.run_id, note_eligible.campaign,
      e.time_zone
    from page e
    cross join lateral (
      select case
        when e.local_time is null or note_eligible.only_zone is null then note_eligible.due_at
        else greatest(tacet.civil_instant(e.local_day + e.local_time, e.time_zone), note_eligible.due_at)
      end as due_at
    ) w
    where e.local_day is not null
    on conflict do nothing
    returning 1
  )
  select
    (select count(*)::int from entered), (select p.user_id from page p order by p.user_id desc limit 1),
    exists (select from tacet.campaigns c where c.name = note_eligible.campaign and c.is_active)
$$;

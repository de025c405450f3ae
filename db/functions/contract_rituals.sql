-- Host contract: the daily ritual, a slot campaign.

-- Users who get rituals, and their zones; a null zone is tacet.user_time_zone. only_user: null for everybody. By default all users
-- whom a push can reach.
--
-- PL/pgSQL, so that one user and all users have a plan each: slots ask for many single users in one statement. For all users, what
-- tacet.user_time_zone says of one is found for all at once.
call tacet.provide('ritual_audience(timestamptz, tacet.user_id)', definition => $default$
create or replace function tacet.ritual_audience(moment timestamptz, only_user tacet.user_id)
returns table (user_id tacet.user_id, time_zone text, gap_days int)
language plpgsql stable rows 1
as $$
#variable_conflict use_column
begin
  if only_user is not null then
    if tacet.has_targets(only_user) then
      user_id := only_user;
      time_zone := tacet.user_time_zone(only_user);
      gap_days := 1;
      return next;
    end if;
    return;
  end if;
  return query
  select u.user_id, coalesce(y.name, u.time_zone), 1
  from (
    select distinct on (d.user_id) d.user_id, z.name as time_zone
    from (
      select t.user_id, t.time_zone, t.registered_at from public.push_tokens t where t.invalidated_at is null
      union all
      select t.user_id, t.time_zone, t.registered_at from tacet.targets t where t.dropped_at is null
    ) d
    left join tacet.time_zones z on z.spelling = lower(left(d.time_zone, 65) collate "C")
    order by d.user_id, z.name is null, d.registered_at desc
  ) u
  left join tacet.profile_zones(null) p on p.user_id = u.user_id
  left join tacet.time_zones y on y.spelling = lower(left(p.time_zone, 65) collate "C")
  where exists (select from tacet.push_targets(u.user_id));
end
$$
$default$);

-- A user's terrain; no row, or is_onboarded false, before it is known.
call tacet.provide('ritual_profile(tacet.user_id)', definition => $default$
create or replace function tacet.ritual_profile(user_id tacet.user_id)
returns table (terrain_type text, nickname text, is_onboarded boolean)
language sql stable
as $$
  select p.terrain_type, p.nickname, p.terrain_type is not null
  from public.terrain_profiles p
  where p.user_id = ritual_profile.user_id
$$
$default$);

-- Notes that a user has done the action of a day. The first time counts. Returns whether it was the first.
call tacet.provide('complete_micro_action(tacet.user_id, date, timestamptz)', definition => $default$
create or replace function tacet.complete_micro_action(user_id tacet.user_id, day date, at timestamptz)
returns boolean
language plpgsql volatile
as $$
#variable_conflict use_column
begin
  insert into public.daily_logs as l (user_id, day, micro_action_completed_at)
  values (complete_micro_action.user_id, complete_micro_action.day, complete_micro_action.at)
  on conflict (user_id, day) do update
  set micro_action_completed_at = excluded.micro_action_completed_at
  where l.micro_action_completed_at is null;
  return found;
end
$$
$default$);

-- The consecutive days with a completion that end on a day or on the one before. At most a thousand are counted.
call tacet.provide('current_streak(tacet.user_id, date)', definition => $default$
create or replace function tacet.current_streak(user_id tacet.user_id, day date)
returns int
language plpgsql stable
as $$
begin
  return (
    with recursive done as (
      select n.day, 1 as days
      from (
        select max(l.day) as day
        from public.daily_logs l
        where l.user_id = current_streak.user_id and l.day between current_streak.day - 1 and current_streak.day
          and l.micro_action_completed_at is not null
      ) n
      where n.day is not null
      union all
      select l.day, d.days + 1
      from done d
      join public.daily_logs l
        on l.user_id = current_streak.user_id and l.day = d.day - 1 and l.micro_action_completed_at is not null
      where d.days < 1000
    )
    select coalesce(max(d.days), 0) from done d);
end
$$
$default$);

-- Host contract: how users want to be treated, and what is known of them.

-- How users want to be treated while they are away, which reminders they want, and their zones; a null zone is
-- tacet.user_time_zone. Only users whom a push can reach. See db/README.md for the members of both. only_user: null for everybody.
--
-- PL/pgSQL, so that one user and all users have a plan each. For all users the planner looks into what tacet.has_targets asks.
call tacet.provide('engagement_preferences(tacet.user_id)', definition => $default$
create or replace function tacet.engagement_preferences(only_user tacet.user_id)
returns table (user_id tacet.user_id, time_zone text, communication jsonb, reminders jsonb)
language plpgsql stable
as $$
begin
  if only_user is null then
    return query
    select
      p.user_id,
      case
        when case when octet_length(p.time_zone) <= 64 then p.time_zone end in (select z.name from tacet.time_zones z)
          then p.time_zone
        else tacet.user_time_zone(p.user_id)
      end,
      p.communication_preferences, p.reminder_preferences
    from public.context_profiles p
    where exists (select from tacet.push_targets(p.user_id));
  elsif tacet.has_targets(only_user) then
    return query
    select
      p.user_id, coalesce(tacet.known_zone(p.time_zone), tacet.user_time_zone(p.user_id)), p.communication_preferences,
      p.reminder_preferences
    from public.context_profiles p
    where p.user_id = only_user;
  end if;
end
$$
$default$);

-- What is known of a user for reminders and re-engagement: an object, of which everything may be missing. See db/README.md for its
-- members.
call tacet.provide('coaching_facts(tacet.user_id, timestamptz)', definition => $default$
create or replace function tacet.coaching_facts(user_id tacet.user_id, moment timestamptz)
returns jsonb
language sql stable
as $$
  select p.coaching_facts from public.context_profiles p where p.user_id = coaching_facts.user_id
$$
$default$);

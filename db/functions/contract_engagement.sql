-- Host contract: how users want to be treated, and what is known of them.

set check_function_bodies = off;

-- How users with a device want to be treated while they are away, which reminders they want, and their zones; a null zone is that of
-- the newest device. See db/README.md for the members of both. only_user: null for everybody.
--
-- PL/pgSQL, so that one user and all users have a plan each.
call tacet.provide('engagement_preferences(tacet.user_id)', definition => $default$
create or replace function tacet.engagement_preferences(only_user tacet.user_id)
returns table (user_id tacet.user_id, time_zone text, communication jsonb, reminders jsonb)
language plpgsql stable
as $$
begin
  if only_user is null then
    return query
    select
      p.user_id, coalesce(p.time_zone, tacet.user_time_zone(p.user_id)), p.communication_preferences, p.reminder_preferences
    from public.context_profiles p
    where exists (select from public.push_tokens t where t.user_id = p.user_id and t.invalidated_at is null);
  else
    return query
    select
      p.user_id, coalesce(p.time_zone, tacet.user_time_zone(p.user_id)), p.communication_preferences, p.reminder_preferences
    from public.context_profiles p
    where p.user_id = only_user
      and exists (select from public.push_tokens t where t.user_id = p.user_id and t.invalidated_at is null);
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

reset check_function_bodies;

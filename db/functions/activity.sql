-- Activity: when users were last active, and their sessions.

-- How often a user's activity is written at the most. A session may so begin or end that much earlier than the last sign of it.
create or replace function tacet.activity_interval()
returns interval
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select interval '5 minutes'
$$;

-- Notes that a user was active: the application's servers may call it for what Tacet does not see. at: a moment to come is taken as
-- now, and one before the last known activity changes nothing. Returns whether it was written.
create or replace function tacet.note_activity(user_id tacet.user_id, at timestamptz default clock_timestamp())
returns boolean
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  select tacet.note_active_users(array[note_activity.user_id], note_activity.at) = 1
$$;

-- As tacet.note_activity for many users; an id may come twice. Returns how many were written.
--
-- Signs less than 30 minutes apart belong to one session. A user who is back has been asked to come back zero times.
create or replace function tacet.note_active_users(user_ids tacet.user_id[], at timestamptz)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  moment timestamptz := least(note_active_users.at, clock_timestamp());
  written bigint;
begin
  with noted as (
    insert into tacet.activity as a (last_active, session_began_at, user_id)
    select moment, moment, u.user_id
    from (select distinct n.user_id from unnest(note_active_users.user_ids) as n (user_id)) u
    where u.user_id is not null and moment is not null
      and not exists (
        select from tacet.activity k
        where k.user_id = u.user_id and k.last_active > moment - tacet.activity_interval()
      )
    order by u.user_id
    on conflict on constraint activity_pkey do update
    set
      last_active = excluded.last_active,
      session_began_at = case
        when a.last_active > excluded.last_active - interval '30 minutes' then a.session_began_at
        else excluded.last_active
      end,
      re_engagement_attempts = 0
    where a.last_active <= excluded.last_active - tacet.activity_interval()
    returning a.user_id, a.session_began_at, a.last_active
  ), kept as (
    insert into tacet.user_sessions as s (began_at, last_at, user_id)
    select n.session_began_at, n.last_active, n.user_id from noted n
    on conflict on constraint user_sessions_pkey do update
    set last_at = excluded.last_at
  )
  select count(*) into written from noted;
  return written;
end
$$;

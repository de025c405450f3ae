-- When users were active, their sessions, and what that says of all of them.

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
as $$
#variable_conflict use_variable
declare
  -- How often a user's activity is written at the most. A session may so begin or end that much earlier than the last sign of it.
  pause interval := interval '5 minutes';
  moment timestamptz := least(at, clock_timestamp());
  written bigint;
begin
  with noted as (
    insert into tacet.activity as a (last_active, session_began_at, user_id)
    select moment, moment, u.user_id
    from (select distinct n.user_id from unnest(user_ids) as n (user_id)) u
    where u.user_id is not null and moment is not null
      and not exists (select from tacet.activity k where k.user_id = u.user_id and k.last_active > moment - pause)
    order by u.user_id
    on conflict on constraint activity_pkey do update
    set
      last_active = excluded.last_active,
      session_began_at = case
        when a.last_active > excluded.last_active - interval '30 minutes' then a.session_began_at
        else excluded.last_active
      end,
      re_engagement_attempts = 0
    where a.last_active <= excluded.last_active - pause
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

-- The class of a user by the exact time since the last activity. Without a SET clause, so that the planner makes it a part of the
-- statements that ask for many users.
create or replace function tacet.engagement_class(idle interval)
returns text
language sql immutable parallel safe
as $$
  select case
    when idle <= interval '1 day' then 'active'
    when idle <= interval '3 days' then 'recent'
    when idle <= interval '7 days' then 'lapsed'
    else 'churn_risk'
  end
$$;

-- How many users are in each class at the end of a period, of those whose activity is known by then; and how many of their sessions
-- began in it, and how long those lasted in all.
--
-- The settings let the planner count whole tables, and for the given period. The default sessions are counted without asking for
-- those of each user: a million users take a second instead of four.
create or replace function tacet.engagement(period_start timestamptz, period_end timestamptz)
returns table (
  total_users bigint, active_users bigint, recent_users bigint, lapsed_users bigint, churn_risk_users bigint, sessions bigint,
  session_seconds double precision
)
language plpgsql stable rows 1
set search_path = pg_catalog, pg_temp
set enable_seqscan = on
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_variable
declare
  -- Those are the rows of tacet.user_sessions.
  has_default_sessions boolean := tacet.is_default(
    to_regprocedure('tacet.sessions_of(tacet.user_id, timestamptz, timestamptz)'));
begin
  return query
  with users as not materialized (
    select a.user_id, a.last_active
    from tacet.activity a
    where a.last_active <= period_end
    union all
    select a.user_id, k.last_active
    from tacet.activity a
    cross join lateral (
      select least(s.last_at, period_end) as last_active
      from tacet.user_sessions s
      where s.user_id = a.user_id and s.began_at <= period_end
      order by s.began_at desc
      limit 1
    ) k
    where a.last_active > period_end
  ), counted as (
    select
      count(*) as total, count(*) filter (where c.class = 'active') as active, count(*) filter (where c.class = 'recent') as recent,
      count(*) filter (where c.class = 'lapsed') as lapsed, count(*) filter (where c.class = 'churn_risk') as churn_risk
    from (
      select tacet.engagement_class(period_end - u.last_active) as class
      from users u
      -- The class of a user is found once, not for each count.
      offset 0
    ) c
  ), timed as (
    select count(*) as sessions, coalesce(extract(epoch from sum(t.length)), 0)::double precision as seconds
    from (
      select s.last_at - s.began_at as length
      from tacet.user_sessions s
      where has_default_sessions and s.began_at >= period_start and s.began_at < period_end
      union all
      select s.ended_at - s.began_at
      from users u
      cross join lateral tacet.sessions_of(u.user_id, period_start, period_end) s
      where not has_default_sessions
    ) t
  )
  select c.total, c.active, c.recent, c.lapsed, c.churn_risk, t.sessions, t.seconds from counted c cross join timed t;
end
$$;

-- Stores how engaged users are, with their sessions of the last seven days, unless the newest analysis is less than 72 hours old.
-- One process of several does it. Deletes analyses older than a year. Returns after how long to call again.
create or replace function tacet.analyse_engagement()
returns interval
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  due_at timestamptz;
begin
  if not pg_try_advisory_xact_lock(1952539493, 5) then
    return interval '1 minute';
  end if;
  select max(a.analysed_at) + interval '72 hours' into due_at from tacet.engagement_analyses a;
  if due_at > now() then
    return due_at - now();
  end if;
  insert into tacet.engagement_analyses (
    analysed_at, period_start, period_end, total_users, active_users, recent_users, lapsed_users, churn_risk_users, sessions,
    session_seconds
  )
  select now(), now() - interval '168 hours', now(), e.* from tacet.engagement(now() - interval '168 hours', now()) e;
  delete from tacet.engagement_analyses a where a.analysed_at < now() - interval '1 year';
  return interval '72 hours';
end
$$;

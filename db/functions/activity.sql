-- Activity: when users were last active, their sessions, and what these say of all users.

set check_function_bodies = off;

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

-- The class of a user by the exact time since the last activity.
create or replace function tacet.engagement_class(idle interval)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
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
create or replace function tacet.engagement(period_start timestamptz, period_end timestamptz)
returns table (
  total_users bigint, active_users bigint, recent_users bigint, lapsed_users bigint, churn_risk_users bigint, sessions bigint,
  session_seconds double precision
)
language sql stable rows 1
as $$
  with users as materialized (
    select k.user_id, tacet.engagement_class(engagement.period_end - k.last_active) as class
    from (
      select
        a.user_id,
        case
          when a.last_active <= engagement.period_end then a.last_active
          else (
            select least(s.last_at, engagement.period_end)
            from tacet.user_sessions s
            where s.user_id = a.user_id and s.began_at <= engagement.period_end
            order by s.began_at desc
            limit 1
          )
        end as last_active
      from tacet.activity a
    ) k
    where k.last_active is not null
  ), counted as (
    select
      count(*) as total, count(*) filter (where u.class = 'active') as active, count(*) filter (where u.class = 'recent') as recent,
      count(*) filter (where u.class = 'lapsed') as lapsed, count(*) filter (where u.class = 'churn_risk') as churn_risk
    from users u
  ), timed as (
    select count(*) as sessions, coalesce(sum(extract(epoch from s.ended_at - s.began_at)), 0)::double precision as seconds
    from users u
    cross join lateral tacet.sessions_of(u.user_id, engagement.period_start, engagement.period_end) s
  )
  select c.total, c.active, c.recent, c.lapsed, c.churn_risk, t.sessions, t.seconds from counted c cross join timed t
$$;

reset check_function_bodies;

-- The campaign lapse: asks users back who have stopped coming, each as the user wants to be treated in absence.

-- Users who may be asked back, when, and why the others are not; db/examples/engagement.sql says what they may wish. Days are those of
-- the user's calendar, because each push comes at the same time of the day.
create or replace function tacet.lapse_audience(moment timestamptz, only_user tacet.user_id)
returns table (user_id tacet.user_id, time_zone text, gap_days int, local_time time, refusal text)
language sql stable
as $$
  select
    w.user_id, w.time_zone, w.gap_days, w.local_time,
    case
      when w.response = 'give_me_space' then 'space_wanted'
      when w.gap_days = 0 then 'never_wanted'
      when w.gap_days is null or (w.response in ('light_nudge', 'check_in_on_me')) is not true then 'no_preference'
      when w.local_time is null then 'preferences_unreadable'
      when w.last_active is null then 'activity_unknown'
      when tacet.engagement_class(lapse_audience.moment - w.last_active) not in ('lapsed', 'churn_risk') then 'not_lapsed'
      when w.attempts >= case w.response when 'light_nudge' then 3 else 5 end then 'attempts_spent'
      when w.re_engaged_at is not null
        and (
          select (lapse_audience.moment at time zone z.zone)::date - (w.re_engaged_at at time zone z.zone)::date
          from (select coalesce(tacet.known_zone(w.time_zone), 'UTC') as zone offset 0) z
        ) < case
          when w.response = 'light_nudge' then 7
          when w.attempts = 0 then 0
          else (array[3, 7, 14, 30])[w.attempts]
        end
        then 'asked_recently'
      when exists (
        select from tacet.push_log l
        where l.user_id = w.user_id and l.push_type = 're_engagement' and (l.push_type <> 'message') is true
          and l.sent_at > lapse_audience.moment - interval '7 days'
      ) then 'asked_by_coach'
    end
  from (
    select
      p.user_id, p.time_zone, a.last_active, a.re_engagement_attempts as attempts, a.re_engaged_at,
      p.communication ->> 'absence_response' as response, tacet.frequency_days(p.communication -> 'frequency') as gap_days,
      tacet.preferred_time(p.communication -> 'preferred_times') as local_time
    from tacet.engagement_preferences(lapse_audience.only_user) p
    -- Row by row, in the order in which a page of users is read.
    left join lateral (select x.* from tacet.activity x where x.user_id = p.user_id limit 1) a on true
  ) w
$$;

-- The days between two pushes that a user wants: 0 for never, null for an unknown word.
create or replace function tacet.frequency_days(frequency jsonb)
returns int
language sql immutable
as $$
  select case frequency when '"daily"' then 1 when '"few_times_a_week"' then 2 when '"weekly"' then 7 when '"never"' then 0 end
$$;

-- The time of the day at which a user wants pushes; ten o'clock without a wish, null for an unreadable one.
create or replace function tacet.preferred_time(wishes jsonb)
returns time
language sql immutable
as $$
  select case
    when wishes is null or wishes in ('null', '[]') then time '10:00'
    when wishes in ('"morning"', '["morning"]', '["morning", "evening"]', '["evening", "morning"]') then time '09:00'
    when wishes in ('"evening"', '["evening"]') then time '19:00'
  end
$$;

-- What the model gets to know of a user who has stopped coming.
create or replace function tacet.lapse_material(user_id tacet.user_id, moment timestamptz)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_strip_nulls(
    jsonb_build_object(
      'user_id', lapse_material.user_id::text, 'name', f.facts -> 'name', 'primary_goal', f.facts -> 'primary_goal',
      'last_workout_type', f.facts -> 'last_workout_type', 'personality_traits', f.facts -> 'personality_traits',
      'days_away', floor(extract(epoch from lapse_material.moment - a.last_active) / 86400)::int,
      'attempts', a.re_engagement_attempts))
  from (select tacet.known_facts(lapse_material.user_id, lapse_material.moment) offset 0) as f (facts)
  left join tacet.activity a on a.user_id = lapse_material.user_id
$$;

-- Counts a push that asks a user back, in the transaction that queues it.
create or replace function tacet.note_re_engagement(user_id tacet.user_id, moment timestamptz)
returns void
language sql volatile
as $$
  update tacet.activity a
  set re_engagement_attempts = a.re_engagement_attempts + 1, re_engaged_at = note_re_engagement.moment
  where a.user_id = note_re_engagement.user_id
$$;

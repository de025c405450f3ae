-- Defaults of the host contract, whose functions db/CONTRACT.md describes:
-- what campaigns ask about users: check-ins, the daily ritual, sessions, and how users want to be treated.

-- Nearly all profiles spell a zone as the server does: one hash table finds these.
call tacet.provide('check_in_audience(timestamptz, tacet.user_id)', definition => $default$
create or replace function tacet.check_in_audience(moment timestamptz, only_user tacet.user_id)
returns table (user_id tacet.user_id, time_zone text, gap_days int, refusal text)
language sql stable
as $$
  select
    p.user_id,
    case
      when case when octet_length(p.time_zone) <= 64 then p.time_zone end in (select z.name from tacet.time_zones z)
        then p.time_zone
      else tacet.user_time_zone(p.user_id)
    end,
    tacet.frequency_days(p.notification_preferences -> 'frequency'),
    case
      when (p.notification_preferences -> 'check_ins_enabled' = 'true') is not true then 'preferences_unreadable'
      when p.notification_preferences ->> 'frequency' is null then 'no_preference'
      when tacet.frequency_days(p.notification_preferences -> 'frequency') is null then 'preferences_unreadable'
      when tacet.frequency_days(p.notification_preferences -> 'frequency') = 0 then 'never_wanted'
    end
  from public.context_profiles p
  where case jsonb_typeof(p.notification_preferences)
      when 'object' then p.notification_preferences -> 'check_ins_enabled' not in ('false', 'null')
      else p.notification_preferences <> 'null'
    end
    and (check_in_audience.only_user is null or p.user_id = check_in_audience.only_user)
    and exists (select from tacet.push_targets(p.user_id))
$$
$default$);

call tacet.provide('sessions_between(tacet.user_id, timestamptz, timestamptz)', definition => $default$
create or replace function tacet.sessions_between(user_id tacet.user_id, first_moment timestamptz, end_moment timestamptz)
returns table (session_id tacet.conversation_id)
language sql stable
as $$
  select c.id
  from public.conversations c
  where c.owner_id = sessions_between.user_id
    and c.created_at >= sessions_between.first_moment and c.created_at < sessions_between.end_moment
$$
$default$);

call tacet.provide('check_in_material(tacet.user_id, timestamptz)', definition => $default$
create or replace function tacet.check_in_material(user_id tacet.user_id, moment timestamptz)
returns jsonb
language plpgsql stable
as $$
#variable_conflict use_column
declare
  missing text[] := '{}';
  profile jsonb;
  written jsonb;
  patterns jsonb;
  talk jsonb;
  wrote_at timestamptz;
  began_at timestamptz;
  locale text;
begin
  begin
    select jsonb_build_object(
      'context_summary', left(p.context_summary, 4000), 'coaching_preferences', p.coaching_preferences)
    into profile
    from public.context_profiles p
    where p.user_id = check_in_material.user_id;
  exception
    when undefined_table or undefined_column or insufficient_privilege then
      missing := missing || 'profile'::text;
  end;
  begin
    select t.locale into locale
    from public.push_tokens t
    where t.user_id = check_in_material.user_id and t.invalidated_at is null and t.locale is not null
    order by t.registered_at desc
    limit 1;
  exception
    when undefined_table or undefined_column or insufficient_privilege then
      null;
  end;
  locale := coalesce(locale, tacet.user_locale(check_in_material.user_id));
  begin
    select max(m.created_at) into wrote_at
    from public.conversations c
    cross join lateral (
      select m.created_at
      from public.messages m
      where m.conversation_id = c.id and m.from_id = c.owner_id
      order by m.created_at desc
      limit 1
    ) m
    where c.owner_id = check_in_material.user_id;
    select
      coalesce(
        jsonb_agg(
          jsonb_build_object('text', m.text, 'written_at', (extract(epoch from m.created_at) * 1000000)::bigint)
          order by m.created_at desc),
        '[]')
    into written
    from (
      select left(m.text, 2000) as text, m.created_at
      from public.conversations c
      join public.messages m on m.conversation_id = c.id and m.from_id = c.owner_id
      where c.owner_id = check_in_material.user_id
        and m.created_at >= check_in_material.moment - interval '7 days' and m.text <> ''
      order by m.created_at desc
      limit 50
    ) m;
    select
      c.created_at,
      jsonb_build_object(
        'domain', c.domain,
        'texts', (
          select coalesce(jsonb_agg(t.text order by t.created_at desc), '[]')
          from (
            select left(m.text, 500) as text, m.created_at
            from public.messages m
            where m.conversation_id = c.id and m.text <> ''
            order by m.created_at desc
            limit 5
          ) t
        ))
    into began_at, talk
    from public.conversations c
    where c.owner_id = check_in_material.user_id
    order by c.created_at desc
    limit 1;
  exception
    when undefined_table or undefined_column or insufficient_privilege then
      missing := missing || '{messages,conversations}'::text[];
  end;
  begin
    select
      coalesce(
        jsonb_agg(
          jsonb_build_object(
            'theme', left(p.theme, 200), 'occurrences', p.occurrences, 'domains', to_jsonb(p.domains),
            'confidence', p.confidence, 'synthesis', left(p.synthesis, 1000),
            'sessions_since', (
              select count(*) from tacet.sessions_between(p.user_id, p.created_at, 'infinity')
            ))
          order by p.created_at desc),
        '[]')
    into patterns
    from (
      select * from public.pattern_cache p where p.user_id = check_in_material.user_id order by p.created_at desc limit 20
    ) p;
  exception
    when undefined_table or undefined_column or insufficient_privilege then
      missing := missing || 'patterns'::text;
  end;
  return jsonb_build_object(
    'locale', locale, 'context_summary', profile -> 'context_summary', 'coaching_preferences', profile -> 'coaching_preferences',
    'inactive_seconds', extract(epoch from check_in_material.moment - greatest(wrote_at, began_at)),
    'messages', coalesce(written, '[]'), 'patterns', coalesce(patterns, '[]'), 'last_conversation', talk,
    'missing', to_jsonb(missing));
end
$$
$default$);

-- One user and all users have a part each, of which the planner leaves the other one out.
call tacet.provide('ritual_audience(timestamptz, tacet.user_id)', definition => $default$
create or replace function tacet.ritual_audience(moment timestamptz, only_user tacet.user_id)
returns table (user_id tacet.user_id, time_zone text, gap_days int)
language sql stable
as $$
  select u.user_id, tacet.user_time_zone(u.user_id), 1
  from (
    select ritual_audience.only_user as user_id where ritual_audience.only_user is not null
    union all
    (
      select distinct d.user_id
      from (
        select t.user_id from public.push_tokens t where t.invalidated_at is null
        union all
        select t.user_id from tacet.targets t where t.dropped_at is null
      ) d
      where ritual_audience.only_user is null
      order by d.user_id
    )
  ) u
  where exists (select from tacet.push_targets(u.user_id))
$$
$default$);

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

-- At most a thousand days are counted. Most users have none, and are told before anything is counted.
call tacet.provide('current_streak(tacet.user_id, date)', definition => $default$
create or replace function tacet.current_streak(user_id tacet.user_id, day date)
returns int
language plpgsql stable
as $$
#variable_conflict use_column
declare
  last_day date := (
    select max(l.day)
    from public.daily_logs l
    where l.user_id = current_streak.user_id and l.day between current_streak.day - 1 and current_streak.day
      and l.micro_action_completed_at is not null);
begin
  if last_day is null then
    return 0;
  end if;
  return (
    with recursive done as (
      select last_day as day, 1 as days
      union all
      select l.day, d.days + 1
      from done d
      join public.daily_logs l
        on l.user_id = current_streak.user_id and l.day = d.day - 1 and l.micro_action_completed_at is not null
      where d.days < 1000
    )
    select max(d.days) from done d);
end
$$
$default$);

call tacet.provide('sessions_of(tacet.user_id, timestamptz, timestamptz)', definition => $default$
create or replace function tacet.sessions_of(user_id tacet.user_id, period_start timestamptz, period_end timestamptz)
returns table (began_at timestamptz, ended_at timestamptz)
language sql stable
as $$
  select s.began_at, s.last_at
  from tacet.user_sessions s
  where s.user_id = sessions_of.user_id and s.began_at >= sessions_of.period_start and s.began_at < sessions_of.period_end
$$
$default$);

-- As in tacet.ritual_audience.
call tacet.provide('engagement_preferences(tacet.user_id)', definition => $default$
create or replace function tacet.engagement_preferences(only_user tacet.user_id)
returns table (user_id tacet.user_id, time_zone text, communication jsonb, reminders jsonb)
language sql stable
as $$
  select
    p.user_id,
    case
      when case when octet_length(p.time_zone) <= 64 then p.time_zone end in (select z.name from tacet.time_zones z)
        then p.time_zone
      else tacet.user_time_zone(p.user_id)
    end,
    p.communication_preferences, p.reminder_preferences
  from (
    select x.user_id, x.time_zone, x.communication_preferences, x.reminder_preferences
    from public.context_profiles x
    where x.user_id = engagement_preferences.only_user
    union all
    (
      select x.user_id, x.time_zone, x.communication_preferences, x.reminder_preferences
      from public.context_profiles x
      where engagement_preferences.only_user is null
      order by x.user_id
    )
  ) p
  where exists (select from tacet.push_targets(p.user_id))
$$
$default$);

call tacet.provide('coaching_facts(tacet.user_id, timestamptz)', definition => $default$
create or replace function tacet.coaching_facts(user_id tacet.user_id, moment timestamptz)
returns jsonb
language sql stable
as $$
  select p.coaching_facts from public.context_profiles p where p.user_id = coaching_facts.user_id
$$
$default$);

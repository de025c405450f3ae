-- Host contract: whom check-ins concern, and what is known of a user.

-- Whom check-ins may concern, where they live, the days between two check-ins, and why others who have said something get none. Users
-- who said nothing, or no, are left out, and so are those whom no push can reach. only_user: null for everybody.
--
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
    and tacet.has_targets(p.user_id)
$$
$default$);

-- The sessions that a user began between two moments, the second exclusive.
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

-- What a check-in may be about: an object with context_summary, coaching_preferences, locale (of the user's app, for dates in
-- digits), inactive_seconds (null: never wrote), messages (the user's own of seven days, newest first), patterns,
-- last_conversation and missing (what the host does not have).
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
      max(c.created_at),
      (array_agg(
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
        order by c.created_at desc))[1]
    into began_at, talk
    from (
      select c.id, c.domain, c.created_at
      from public.conversations c
      where c.owner_id = check_in_material.user_id
      order by c.created_at desc
      limit 1
    ) c;
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

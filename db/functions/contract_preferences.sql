-- Defaults of the host contract, whose functions db/CONTRACT.md describes:
-- what a recipient wants; and the preferences that PUT /v1/preferences stores.

-- The table of examples/coach.sql may come after Tacet and may lack the column, so it is looked for at each call.
call tacet.provide('profile_zones(tacet.user_id)', definition => $default$
create or replace function tacet.profile_zones(only_user tacet.user_id)
returns table (user_id tacet.user_id, time_zone text)
language plpgsql stable
as $$
#variable_conflict use_column
begin
  if to_regclass('public.context_profiles') is not null then
    return query select p.user_id, p.time_zone from public.context_profiles p where p.user_id = only_user;
  end if;
exception
  when undefined_column or insufficient_privilege then
    return;
end
$$
$default$);

-- This and tacet.is_mentioned are called for few recipients. They are PL/pgSQL, so that the planner does not look into them: a
-- host without these tables can claim as long as nothing needs them.
call tacet.provide('user_time_zone(tacet.user_id)',
  inert => 'select tacet.known_zone(p.time_zone) from tacet.profile_zones(user_time_zone.user_id) p limit 1',
  definition => $default$
-- Its cost is told as small, because it is asked where a zone is missing: a look for the users of one zone is to compare the zones
-- that are there before it calls functions of the host.
create or replace function tacet.user_time_zone(user_id tacet.user_id)
returns text
language plpgsql stable cost 1
as $$
#variable_conflict use_column
declare
  zone text := (select tacet.known_zone(p.time_zone) from tacet.profile_zones(user_time_zone.user_id) p limit 1);
begin
  if zone is not null then
    return zone;
  end if;
  return (
    select n.zone
    from (
      (
        select k.zone, t.registered_at
        from public.push_tokens t
        cross join lateral (select tacet.known_zone(t.time_zone) as zone offset 0) k
        where t.user_id = user_time_zone.user_id and t.invalidated_at is null and k.zone is not null
        order by t.registered_at desc
        limit 1
      )
      union all
      (
        select k.zone, t.registered_at
        from tacet.targets t
        cross join lateral (select tacet.known_zone(t.time_zone) as zone offset 0) k
        where t.user_id = user_time_zone.user_id and t.dropped_at is null and k.zone is not null
        order by t.registered_at desc
        limit 1
      )
    ) n
    order by n.registered_at desc
    limit 1);
end
$$
$default$);

-- Quiet hours in a zone that the server has lost are those of the user's own zone, not none.
--
-- Each look-up has its own limit, so that the planner cannot join whole tables.
call tacet.provide('recipient_preferences(tacet.user_id, text, tacet.conversation_id, timestamptz)', definition => $default$
create or replace function tacet.recipient_preferences(
  user_id tacet.user_id, kind text, surface_id tacet.conversation_id, moment timestamptz
)
returns table (
  is_opted_out boolean, is_muted boolean, mentions_only boolean, quiet_hours_remaining interval, quiet_hours_policy text
)
language sql stable
as $$
  select
    coalesce(recipient_preferences.kind = any (p.disabled_kinds), false),
    coalesce(c.is_muted and (c.muted_until is null or c.muted_until > recipient_preferences.moment), false),
    coalesce(c.mentions_only, false),
    case
      when p.quiet_start is not null then
        tacet.quiet_hours_remaining(
          p.quiet_start, p.quiet_end,
          coalesce(tacet.known_zone(p.quiet_zone), tacet.user_time_zone(recipient_preferences.user_id), 'UTC'),
          recipient_preferences.moment)
    end,
    p.quiet_policy
  from (values (1)) as one
  left join lateral (
    select x.disabled_kinds, x.quiet_start, x.quiet_end, x.quiet_zone, x.quiet_policy
    from tacet.preferences x
    where x.user_id = recipient_preferences.user_id
    limit 1
  ) p on true
  left join lateral (
    select x.is_muted, x.muted_until, x.mentions_only
    from tacet.conversation_preferences x
    where x.user_id = recipient_preferences.user_id and x.conversation_id = recipient_preferences.surface_id
    limit 1
  ) c on true
$$
$default$);

-- Replaces all preferences of a user, and releases what the user is held. The arrays about conversations have one length. content: what
-- pushes may say on all devices: full, sender, none or sealed; null for no choice. unread_kinds: kinds with a wish for push.unread.
-- unread_seconds: after how long; null for never. The first row is the lock: of two concurrent calls one wins as a whole.
create or replace function tacet.put_preferences(
  user_id tacet.user_id, quiet_start time, quiet_end time, quiet_zone text, quiet_policy text, disabled_kinds text[],
  conversation_ids tacet.conversation_id[], muted boolean[], muted_until timestamptz[], mentions_only boolean[],
  content text default null, unread_kinds text[] default '{}', unread_seconds bigint[] default '{}'
)
returns void
language sql volatile
as $$
  insert into tacet.preferences as p (user_id, quiet_start, quiet_end, quiet_zone, quiet_policy, disabled_kinds, content)
  values (
    put_preferences.user_id, put_preferences.quiet_start, put_preferences.quiet_end, put_preferences.quiet_zone,
    put_preferences.quiet_policy, put_preferences.disabled_kinds, put_preferences.content
  )
  on conflict (user_id) do update
  set
    changed_at = clock_timestamp(), quiet_start = excluded.quiet_start, quiet_end = excluded.quiet_end,
    quiet_zone = excluded.quiet_zone, quiet_policy = excluded.quiet_policy, disabled_kinds = excluded.disabled_kinds,
    content = excluded.content;
  delete from tacet.conversation_preferences c
  where c.user_id = put_preferences.user_id and c.conversation_id <> all (put_preferences.conversation_ids);
  insert into tacet.conversation_preferences as c (user_id, conversation_id, is_muted, muted_until, mentions_only)
  select put_preferences.user_id, n.conversation_id, n.is_muted, n.muted_until, n.mentions_only
  from unnest(
    put_preferences.conversation_ids, put_preferences.muted, put_preferences.muted_until, put_preferences.mentions_only
  ) as n (conversation_id, is_muted, muted_until, mentions_only)
  on conflict (user_id, conversation_id) do update
  set is_muted = excluded.is_muted, muted_until = excluded.muted_until, mentions_only = excluded.mentions_only
  where (c.is_muted, c.muted_until, c.mentions_only)
    is distinct from (excluded.is_muted, excluded.muted_until, excluded.mentions_only);
  delete from tacet.unread_preferences p
  where p.user_id = put_preferences.user_id and p.kind <> all (put_preferences.unread_kinds);
  insert into tacet.unread_preferences as p (user_id, kind, after)
  select put_preferences.user_id, n.kind, n.seconds * interval '1 second'
  from unnest(put_preferences.unread_kinds, put_preferences.unread_seconds) as n (kind, seconds)
  on conflict (user_id, kind) do update set after = excluded.after where p.after is distinct from excluded.after;
  select tacet.release_user(put_preferences.user_id)
$$;

-- What the default functions of the host contract read is bounded: a badge counts so far and no further, a user's newest
-- devices come first, and a message of the future says nothing about presence. What a large event has told so far is
-- remembered, so that its next part begins there.
--
-- Locks: ADD COLUMN takes ACCESS EXCLUSIVE on tacet.inbox for an instant and rewrites nothing. A running older service is
-- not affected.

-- The last recipient of those whom a large event has told; null before its first part. Recipients are taken by their ids.
alter table tacet.inbox add column if not exists told_until uuid;

set check_function_bodies = off;

-- Up to which number unread messages are counted: BADGE_MAX of the service whose session it is, 999 for others.
create or replace function tacet.badge_max()
returns bigint
language sql stable
as $$
  select coalesce(nullif(current_setting('tacet.badge_max', true), '')::bigint, 999)
$$;

-- The defaults of the host contract, each unless the host has replaced it.
do $$
declare
  is_default boolean;
begin
  select md5(regexp_replace(p.prosrc, '\s+', ' ', 'g')) = '69a1156ffab11c24bc1b437c5961c15f' into is_default
  from pg_proc p
  where p.oid = to_regprocedure('tacet.message_context(uuid)');
  if is_default then
    create or replace function tacet.message_context(message_id uuid)
    returns table (
      conversation_id uuid,
      sender_id uuid,
      sender_name text,
      body text,
      created_at timestamptz,
      read_by uuid[],
      prior_read_by uuid[],
      prior_touched_at timestamptz
    )
    language sql stable
    as $function$
      select
        m.conversation_id, m.from_id, p.name, left(m.text, 4096), m.created_at, m.read_by, prior.read_by,
        prior.updated_at
      from public.messages m
      left join public.profiles p on p.id = m.from_id
      left join lateral (
        select o.read_by, o.updated_at
        from public.messages o
        where o.conversation_id = m.conversation_id and o.id <> m.id and o.created_at <= now()
        order by o.created_at desc
        limit 1
      ) prior on true
      where m.id = message_context.message_id
    $function$;
  end if;

  -- A thousand rows at the most are sorted, so that a user's row count does not become everybody's wait.
  select md5(regexp_replace(p.prosrc, '\s+', ' ', 'g')) = '2bc4dc251a94da835da7d03b97f77821' into is_default
  from pg_proc p
  where p.oid = to_regprocedure('tacet.device_tokens(uuid)');
  if is_default then
    create or replace function tacet.device_tokens(user_id uuid)
    returns table (device_token text, environment text, app text)
    language sql stable
    as $function$
      select n.device_token, n.environment, n.app
      from (
        select t.device_token, t.environment, t.app, t.registered_at
        from public.push_tokens t
        where t.user_id = device_tokens.user_id
          and t.invalidated_at is null
          and lower(t.platform) in ('ios', 'ipados', 'macos', 'watchos', 'tvos', 'visionos', 'apns')
        limit 1000
      ) n
      order by n.registered_at desc
    $function$;
  end if;

  -- Of a thousand conversations at the most, and of the newest ten thousand messages of each: nobody's history decides how
  -- long the pushes of others wait.
  select md5(regexp_replace(p.prosrc, '\s+', ' ', 'g')) = '253e95db47f31859e65d9d7905cb726d' into is_default
  from pg_proc p
  where p.oid = to_regprocedure('tacet.unread_count(uuid)');
  if is_default then
    create or replace function tacet.unread_count(user_id uuid)
    returns bigint
    language plpgsql stable
    as $function$
    #variable_conflict use_column
    declare
      badge_max bigint := tacet.badge_max();
    begin
      return (
        select count(*)
        from (
          select
          from (
            select c.conversation_id, c.user_id
            from public.conversation_participants c
            where c.user_id = unread_count.user_id
            limit 1000
          ) c
          cross join lateral (
            select
            from (
              select m.from_id, m.read_by
              from public.messages m
              where m.conversation_id = c.conversation_id
                and m.created_at >= coalesce((
                  select k.read_until
                  from tacet.unread_marks k
                  where k.user_id = c.user_id and k.conversation_id = c.conversation_id
                ), '-infinity')
              order by m.created_at desc
              limit 10000
            ) m
            where m.from_id <> c.user_id and not (m.read_by @> array[c.user_id])
            limit badge_max
          ) u
          limit badge_max
        ) n);
    end
    $function$;
  end if;
end
$$;

-- Moves users' marks to their first unread message, or to ten minutes ago: a message is dated when its transaction begins,
-- and may become visible later. Where nearly nothing would be passed over, none is made. A mark is made from the beginning
-- again after a day, which finds what was inserted with a date of the past.
--
-- A mark passes over ten thousand messages at a time at the most, in a thousand of the user's conversations.
--
-- For as long as unread_count is the default; another one has no use for marks.
create or replace function tacet.move_unread_marks(user_ids uuid[])
returns void
language plpgsql volatile
as $$
#variable_conflict use_column
begin
  if not exists (
    select
    from pg_proc p
    where p.oid = to_regprocedure('tacet.unread_count(uuid)') and p.prosrc like '%tacet.unread_marks%'
  ) then
    return;
  end if;
  insert into tacet.unread_marks as k (user_id, conversation_id, read_until, built_at)
  select n.user_id, n.conversation_id, n.read_until, coalesce(n.built_at, clock_timestamp())
  from (
    select
      c.user_id, c.conversation_id, k.built_at, f.counted_from,
      least(
        now() - interval '10 minutes',
        coalesce(
          (
            select m.created_at
            from (
              select m.created_at, m.from_id, m.read_by
              from public.messages m
              where m.conversation_id = c.conversation_id and m.created_at >= f.counted_from
              order by m.created_at
              limit 10000
            ) m
            where m.from_id <> c.user_id and not (m.read_by @> array[c.user_id])
            limit 1
          ),
          (
            select m.created_at
            from public.messages m
            where m.conversation_id = c.conversation_id and m.created_at >= f.counted_from
            order by m.created_at
            offset 9999
            limit 1
          ))) as read_until
    from unnest(move_unread_marks.user_ids) as u (user_id)
    cross join lateral (
      select p.user_id, p.conversation_id
      from public.conversation_participants p
      where p.user_id = u.user_id
      limit 1000
    ) c
    left join lateral (
      select x.read_until, x.built_at
      from tacet.unread_marks x
      where x.user_id = c.user_id and x.conversation_id = c.conversation_id
        and x.built_at > now() - interval '1 day'
    ) k on true
    cross join lateral (select coalesce(k.read_until, '-infinity') as counted_from) f
    order by c.user_id, c.conversation_id
  ) n
  where n.read_until > n.counted_from and 16 <= (
    select count(*)
    from (
      select
      from public.messages m
      where m.conversation_id = n.conversation_id and m.created_at >= n.counted_from and m.created_at < n.read_until
      limit 16
    ) passed
  )
  on conflict (user_id, conversation_id) do update
  set read_until = excluded.read_until, built_at = excluded.built_at;
end
$$;

reset check_function_bodies;

revoke all on all functions in schema tacet from public;

do $$
begin
  perform tacet.grant_services();
end
$$;

insert into tacet.migrations (version, name) values (22, '0022_contract_bounds') on conflict do nothing;

-- The host contract: everything Tacet reads of the application, as functions a host may replace.
--
-- A host with another schema replaces them with `create or replace function`, keeping the argument and result types.
-- They are plain SQL functions without a SET clause so that the planner can inline them into the claim; every name in
-- them is therefore qualified. Bodies are not checked here: a host that lacks a table replaces the function instead.
--
-- Applying this file again restores the defaults, except those of which a later migration has a better one.

-- Not SET LOCAL, which does nothing when psql applies the file outside a transaction.
set check_function_bodies = off;

-- What the rules and the composer need of one message; no row when it was deleted.
-- prior_*: the newest other message of the conversation, the weaker sign of presence for clients that report no
-- last_seen.
do $$
begin
  if to_regprocedure('tacet.message_context(uuid)') is null then
    create function tacet.message_context(message_id uuid)
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
        m.conversation_id, m.from_id, p.name, left(m.text, 4096), m.created_at, m.read_by, prior.read_by, prior.updated_at
      from public.messages m
      left join public.profiles p on p.id = m.from_id
      left join lateral (
        select o.read_by, o.updated_at
        from public.messages o
        where o.conversation_id = m.conversation_id and o.id <> m.id
        order by o.created_at desc
        limit 1
      ) prior on true
      where m.id = message_context.message_id
    $function$;
  end if;
end
$$;

-- Who takes part in a conversation, and when each was last seen looking at it.
create or replace function tacet.seen_by(conversation_id uuid)
returns table (user_id uuid, last_seen timestamptz, left_at timestamptz)
language sql stable
as $$
  select c.user_id, c.last_seen, c.left_at
  from public.conversation_participants c
  where c.conversation_id = seen_by.conversation_id
$$;

-- The absolute number of messages the user has not read: the badge.
do $$
begin
  if to_regprocedure('tacet.unread_count(uuid)') is null then
    create function tacet.unread_count(user_id uuid)
    returns bigint
    language sql stable
    as $function$
      select count(*)
      from public.conversation_participants c
      join public.messages m on m.conversation_id = c.conversation_id
      where c.user_id = unread_count.user_id
        and m.from_id <> unread_count.user_id
        and not (m.read_by @> array[unread_count.user_id])
    $function$;
  end if;
end
$$;

-- The user's device tokens that APNs may be asked to deliver to. environment is production, sandbox or null.
do $$
begin
  if to_regprocedure('tacet.device_tokens(uuid)') is null then
    create function tacet.device_tokens(user_id uuid)
    returns table (device_token text, environment text, app text)
    language sql stable
    as $function$
      select t.device_token, t.environment, t.app
      from public.push_tokens t
      where t.user_id = device_tokens.user_id
        and t.invalidated_at is null
        and lower(t.platform) in ('ios', 'ipados', 'macos', 'watchos', 'tvos', 'visionos', 'apns')
    $function$;
  end if;
end
$$;

-- Drops a token that APNs says is dead, unless the app has registered it again since.
-- The one function of the contract that writes.
create or replace function tacet.invalidate_device_token(device_token text, reason text, invalid_since timestamptz)
returns void
language sql volatile
as $$
  update public.push_tokens t
  set invalidated_at = now(), invalidation_reason = invalidate_device_token.reason
  where t.device_token = invalidate_device_token.device_token
    and t.invalidated_at is null
    and t.registered_at <= invalidate_device_token.invalid_since
$$;

reset check_function_bodies;

-- A host with other tables learns of it here rather than from a service that cannot claim.
do $$
begin
  perform from tacet.message_context(null);
  perform from tacet.seen_by(null);
  perform tacet.unread_count(null);
  perform from tacet.device_tokens(null);
  perform tacet.invalidate_device_token(null, null, null);
exception
  when others then
    raise notice 'tacet: the host tables differ from the default (%); replace the functions of 0003_host_contract.sql',
      sqlerrm;
end
$$;

insert into tacet.migrations (version, name) values (3, '0003_host_contract') on conflict do nothing;

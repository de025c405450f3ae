-- Defaults of the host contract, whose functions db/CONTRACT.md describes:
-- where pushes go, over all channels. And the targets that Tacet keeps itself.

call tacet.provide('push_targets(tacet.user_id)', is_tried => true, definition => $default$
create or replace function tacet.push_targets(user_id tacet.user_id)
returns table (channel text, address text, environment text, app text, keys text)
language sql stable
as $$
  select
    t.channel, t.address, t.environment, t.app,
    case
      when c.content is null then t.keys
      else (coalesce(t.keys::jsonb, '{}') || jsonb_build_object('user_content', c.content))::text
    end
  from (
    select (select p.content from tacet.preferences p where p.user_id = push_targets.user_id and p.content is not null) as content
    offset 0
  ) c
  cross join (
    select
      'apns' as channel, d.device_token as address, d.environment, d.app,
      (
        select w.wishes
        from tacet.target_wishes w
        where w.address = lower(d.device_token) and w.channel = 'apns' and w.user_id = push_targets.user_id
      ) as keys
    from tacet.device_tokens(push_targets.user_id) d
    union all
    select n.channel, n.address, null::text, n.app, n.keys
    from (
      select t.channel, t.address, t.app, t.keys
      from tacet.targets t
      where t.user_id = push_targets.user_id and t.dropped_at is null and (t.expires_at > now()) is not false
        and tacet.takes_pushes(push_targets.user_id)
      order by t.registered_at desc
      limit 50
    ) n
  ) t
$$
$default$);

-- Gives a target to a user, and takes it from any other. The user keeps the targets_max newest of the channel. Null keeps what is
-- known; one that changes its user loses locale, time zone and what it said of content. Of dropped rows the newest 50 stay.
create or replace function tacet.register_target(
  user_id tacet.user_id, channel text, address text, app text, keys text, locale text, time_zone text, fetch_digest text,
  expires_at timestamptz, targets_max int
)
returns void
language plpgsql volatile
as $$
begin
  -- One registration of a user at a time, or two would each see room for the last target.
  perform pg_advisory_xact_lock(tacet.lock_of('user ' || register_target.user_id));
  insert into tacet.targets as t (user_id, channel, address, app, keys, locale, time_zone, fetch_digest, expires_at)
  values (
    register_target.user_id, register_target.channel, register_target.address, register_target.app, register_target.keys,
    register_target.locale, register_target.time_zone, register_target.fetch_digest, register_target.expires_at)
  on conflict on constraint targets_pkey do update
  set
    user_id = excluded.user_id, app = coalesce(excluded.app, t.app),
    keys = case
      when t.user_id = excluded.user_id then coalesce((t.keys::jsonb || excluded.keys::jsonb)::text, excluded.keys, t.keys)
      else coalesce(excluded.keys, (t.keys::jsonb - '{content,sealing_key,locale}'::text[])::text)
    end,
    locale = coalesce(excluded.locale, case when t.user_id = excluded.user_id then t.locale end),
    time_zone = coalesce(excluded.time_zone, case when t.user_id = excluded.user_id then t.time_zone end),
    fetch_digest = coalesce(excluded.fetch_digest, t.fetch_digest), expires_at = excluded.expires_at,
    registered_at = clock_timestamp(), dropped_at = null, drop_reason = null;
  update tacet.targets t
  set dropped_at = now(), drop_reason = 'too_many'
  where t.ctid = any (array(
    select o.ctid
    from tacet.targets o
    where o.user_id = register_target.user_id and o.channel = register_target.channel and o.dropped_at is null
    order by o.registered_at desc
    offset register_target.targets_max));
  delete from tacet.targets t
  where t.ctid = any (array(
    select o.ctid
    from tacet.targets o
    where o.user_id = register_target.user_id and o.dropped_at is not null
    order by o.dropped_at desc
    offset 50
    for update skip locked));
end
$$;

-- Registers the subscription by which a browser has replaced one, for the user of that one, which is dropped. fetch_digest: of the
-- replaced one's worker. Returns whether there is one.
create or replace function tacet.renew_target(
  fetch_digest text, address text, keys text, next_digest text, expires_at timestamptz, targets_max int
)
returns boolean
language plpgsql volatile
as $$
declare
  former tacet.targets;
begin
  -- In the order of register_target: first the user, then the row.
  perform pg_advisory_xact_lock(tacet.lock_of('user ' || x.user_id))
  from tacet.targets x
  where x.fetch_digest = renew_target.fetch_digest and x.dropped_at is null
  limit 1;
  select x.* into former
  from tacet.targets x
  where x.fetch_digest = renew_target.fetch_digest and x.dropped_at is null
  limit 1
  for update;
  if not found then
    return false;
  end if;
  update tacet.targets t
  set dropped_at = now(), drop_reason = 'replaced', fetch_digest = null, keys = null
  where t.channel = former.channel and t.address = former.address;
  perform tacet.register_target(
    former.user_id, former.channel, renew_target.address, former.app,
    (coalesce(former.keys::jsonb, '{}') || renew_target.keys::jsonb)::text, former.locale, former.time_zone,
    renew_target.next_digest, renew_target.expires_at, renew_target.targets_max);
  return true;
end
$$;

-- Keeps what a registration says of content and language: wishes, a JSON object of the members that it has. What it does not say
-- stays as it was said for the same user. What the user's dropped devices said is forgotten.
create or replace function tacet.keep_wishes(user_id tacet.user_id, channel text, address text, wishes text)
returns void
language plpgsql volatile
as $$
begin
  delete from tacet.target_wishes w
  where w.address = keep_wishes.address and w.channel = keep_wishes.channel and w.user_id <> keep_wishes.user_id;
  if keep_wishes.wishes <> '{}' then
    insert into tacet.target_wishes as w (channel, address, user_id, wishes)
    values (keep_wishes.channel, keep_wishes.address, keep_wishes.user_id, keep_wishes.wishes)
    on conflict on constraint target_wishes_pkey do update
    set user_id = excluded.user_id, wishes = (w.wishes::jsonb || excluded.wishes::jsonb)::text;
  end if;
  delete from tacet.target_wishes w
  where w.user_id = keep_wishes.user_id and w.channel = 'apns' and w.address <> keep_wishes.address
    and not exists (
      select from tacet.device_tokens(keep_wishes.user_id) d where lower(d.device_token) = w.address
    );
end
$$;

-- What stands for a target in the ledger, and for an app that names itself: the device token in lower case, else 32 digits of the
-- address's SHA-256.
create or replace function tacet.target_mark(channel text, address text)
returns text
language sql immutable
as $$
  select case when channel = 'apns' then lower(address) else left(encode(sha256(convert_to(address, 'UTF8')), 'hex'), 32) end
$$;

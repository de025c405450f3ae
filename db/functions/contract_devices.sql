-- Defaults of the host contract, whose functions db/CONTRACT.md describes: device tokens.

-- At most a thousand rows are sorted, so that one user's rows do not delay everybody.
call tacet.provide('device_tokens(tacet.user_id)', is_tried => true, definition => $default$
create or replace function tacet.device_tokens(user_id tacet.user_id)
returns table (device_token text, environment text, app text)
language sql stable
as $$
  select n.device_token, n.environment, n.app
  from (
    select t.device_token, t.environment, t.app, t.registered_at
    from public.push_tokens t
    where t.user_id = device_tokens.user_id
      and t.invalidated_at is null
      and lower(t.platform) in ('ios', 'ipados', 'macos', 'watchos', 'tvos', 'visionos', 'apns')
      and tacet.takes_pushes(device_tokens.user_id)
    limit 1000
  ) n
  order by n.registered_at desc
$$
$default$);

-- No hexadecimal digit sorts after g, so the two bounds enclose the beginning and push_tokens_spelling_idx serves them. The
-- last condition is for databases whose collation has digraphs.
call tacet.provide('device_token_owners(text, int)',
  inert => 'select null::tacet.user_id, null::text where false',
  definition => $default$
create or replace function tacet.device_token_owners(beginning text, owners_max int)
returns table (user_id tacet.user_id, device_token text)
language sql stable
as $$
  select t.user_id, t.device_token
  from public.push_tokens t
  where lower(t.device_token) >= beginning
    and lower(t.device_token) < beginning || 'g'
    and starts_with(lower(t.device_token), beginning)
  order by lower(t.device_token)
  limit owners_max
$$
$default$);

-- A token that changes its user loses locale and time zone, which belong to the person; environment, app and platform belong to
-- the installation and stay. Devices beyond devices_max are dropped as too_many. Of dropped rows the newest 50 stay.
--
-- A row with the same token in upper case is this token. The locks serialise registrations of one token, and those of one user,
-- because the host's table may have no unique constraint. Where it has one, an insert by the host may come between, and the loop's
-- next turn finds it. The token is always locked before the user. The time is read after the locks, so that a later registration
-- has a later time. The condition on a column has this file applied again once the table has it.
call tacet.provide('register_device(tacet.user_id, text, text, text, text, text, text, int)',
  is_tried => null, inert => 'select tacet.not_wired(''register_device'')', definition => $default$
create or replace function tacet.register_device(
  user_id tacet.user_id, device_token text, environment text, app text, platform text, locale text, time_zone text,
  devices_max int
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  kept tid;
begin
  perform pg_advisory_xact_lock(tacet.lock_of('device ' || register_device.device_token));
  perform pg_advisory_xact_lock(tacet.lock_of('user ' || register_device.user_id));
  loop
    select t.ctid into kept
    from public.push_tokens t
    where lower(t.device_token) = register_device.device_token -- if push_tokens.device_token
    order by t.user_id <> register_device.user_id, t.registered_at desc
    limit 1
    for update;
    if found then
      delete from public.push_tokens t where lower(t.device_token) = register_device.device_token and t.ctid <> kept;
      update public.push_tokens t
      set
        user_id = register_device.user_id,
        device_token = register_device.device_token,
        environment = coalesce(register_device.environment, t.environment),
        app = coalesce(register_device.app, t.app),
        platform = coalesce(register_device.platform, t.platform),
        locale = coalesce(register_device.locale, case when t.user_id = register_device.user_id then t.locale end),
        time_zone = coalesce(
          register_device.time_zone, case when t.user_id = register_device.user_id then t.time_zone end),
        registered_at = clock_timestamp(),
        invalidated_at = null,
        invalidation_reason = null
      where t.ctid = kept;
    else
      insert into public.push_tokens (
        user_id, device_token, environment, app, platform, locale, time_zone, registered_at
      )
      values (
        register_device.user_id, register_device.device_token, register_device.environment, register_device.app,
        coalesce(register_device.platform, 'ios'), register_device.locale, register_device.time_zone, clock_timestamp()
      )
      on conflict do nothing;
    end if;
    exit when found;
  end loop;
  update public.push_tokens t
  set invalidated_at = now(), invalidation_reason = 'too_many'
  where t.ctid = any (array(
    select o.ctid
    from public.push_tokens o
    where o.user_id = register_device.user_id and o.invalidated_at is null
    order by o.registered_at desc, o.device_token
    offset register_device.devices_max
    for update));
  -- Dropped rows keep their reason for a while only, because a user may register any number of tokens. A row that another
  -- session has locked goes next time.
  delete from public.push_tokens t
  where t.ctid = any (array(
    select o.ctid
    from public.push_tokens o
    where o.user_id = register_device.user_id and o.invalidated_at is not null
    order by o.invalidated_at desc, o.registered_at desc, o.device_token
    offset 50
    for update skip locked));
end
$$
$default$);

-- The row stays, with time and reason; a token dropped before keeps its reason.
call tacet.provide('remove_device(tacet.user_id, text)',
  is_tried => null, inert => 'select tacet.not_wired(''remove_device'')', definition => $default$
create or replace function tacet.remove_device(user_id tacet.user_id, device_token text)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform pg_advisory_xact_lock(tacet.lock_of('device ' || remove_device.device_token));
  update public.push_tokens t
  set invalidated_at = now(), invalidation_reason = 'logged_out'
  where lower(t.device_token) = remove_device.device_token
    and t.user_id = remove_device.user_id and t.invalidated_at is null;
  return found or not exists (
    select from public.push_tokens t
    where lower(t.device_token) = remove_device.device_token
    having count(*) > 0 and bool_and(t.user_id <> remove_device.user_id));
end
$$
$default$);

-- It waits for no row: the service records what it has sent in the same statement, and the next push finds the token dead again.
call tacet.provide('invalidate_device_token(text, text, timestamptz)', inert => 'select', definition => $default$
create or replace function tacet.invalidate_device_token(device_token text, reason text, invalid_since timestamptz)
returns void
language sql volatile
as $$
  update public.push_tokens t
  set invalidated_at = now(), invalidation_reason = invalidate_device_token.reason
  where t.ctid = any (array(
    select o.ctid
    from public.push_tokens o
    where o.device_token = invalidate_device_token.device_token
      and o.invalidated_at is null
      and o.registered_at <= invalidate_device_token.invalid_since
    for update skip locked))
$$
$default$);

call tacet.provide('learn_token_environment(text, text, text, text, timestamptz)', inert => 'select', definition => $default$
create or replace function tacet.learn_token_environment(
  device_token text, environment text, registered_environment text, registered_app text, read_at timestamptz
)
returns void
language sql volatile
as $$
  update public.push_tokens t
  set environment = learn_token_environment.environment
  where t.ctid = any (array(
    select o.ctid
    from public.push_tokens o
    where o.device_token = learn_token_environment.device_token
      and o.environment is not distinct from learn_token_environment.registered_environment
      and o.app is not distinct from learn_token_environment.registered_app
      and o.registered_at <= learn_token_environment.read_at
    for update skip locked))
$$
$default$);

-- Device registrations through the service: a token belongs to one user, and says where and in which language its owner
-- lives.
--
-- Locks: ADD COLUMN takes ACCESS EXCLUSIVE on push_tokens for an instant and rewrites nothing. The index on push_tokens is
-- built while writers wait; build it CONCURRENTLY beforehand, under the same name, on a large table.

-- locale: a BCP 47 language tag. time_zone: an IANA name; what quiet hours without a zone of their own go by.
alter table public.push_tokens
  add column if not exists locale text,
  add column if not exists time_zone text;

-- One token may stand in either case, as its app spelt it.
do $$
begin
  -- An equal one under another name will do. A database that an older 0001 was applied to cannot tell.
  if to_regprocedure('tacet.has_index(regclass, text, text)') is not null then
    if tacet.has_index('public.push_tokens', 'lower(device_token)') then
      return;
    end if;
  end if;
  create index if not exists push_tokens_spelling_idx on public.push_tokens (lower(device_token));
exception
  when undefined_column or undefined_function then
    raise notice 'tacet: the host tables differ from the default; replace tacet.register_device and tacet.remove_device';
end
$$;

-- Whether times of day can be told in a zone. PostgreSQL takes any letters with digits behind them for a zone of POSIX's
-- making; of those only the names that IANA has as well are zones here. Looking into pg_timezone_names would read every
-- file of the time zone database.
create or replace function tacet.is_time_zone(name text)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform now() at time zone name;
  return name !~ '[0-9]'
    or name ~ '^(Etc/)?GMT[+-]?0$|^Etc/GMT(\+([1-9]|1[0-2])|-([1-9]|1[0-4]))$|^(EST5EDT|CST6CDT|MST7MDT|PST8PDT)$';
exception
  when invalid_parameter_value then
    return false;
end
$$;

-- Part of the host contract: registers or refreshes a device of a user. The token then has one row, the user's, whoever
-- had it before. What is null stays as it was known of the token. The user keeps the devices_max devices that were
-- registered last; the others are dropped as too_many. Of what was dropped, the newest 50 rows stay.
--
-- Tokens come in lower case; a row of the same token in upper case is this token. The locks make registrations of one
-- token, and those of one user, wait for each other, because the host's table may have no unique constraint; where it has
-- one, an insert of the host's own may come between, and is then found by the next turn of the loop. The device token is
-- locked before the user, always. The time is read after the locks, so that the later registration has the later one.
set check_function_bodies = off;

create or replace function tacet.register_device(
  user_id uuid, device_token text, environment text, app text, platform text, locale text, time_zone text,
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
  perform pg_advisory_xact_lock(hashtextextended('device ' || register_device.device_token, 1952539493));
  perform pg_advisory_xact_lock(hashtextextended('user ' || register_device.user_id, 1952539493));
  loop
    select t.ctid into kept
    from public.push_tokens t
    where lower(t.device_token) = register_device.device_token
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
        locale = coalesce(register_device.locale, t.locale),
        time_zone = coalesce(register_device.time_zone, t.time_zone),
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
  -- What is dropped says why for a while, not for ever: a user may register any number of tokens, one after the other. A
  -- row that somebody has locked goes next time.
  delete from public.push_tokens t
  where t.ctid = any (array(
    select o.ctid
    from public.push_tokens o
    where o.user_id = register_device.user_id and o.invalidated_at is not null
    order by o.invalidated_at desc, o.registered_at desc, o.device_token
    offset 50
    for update skip locked));
end
$$;

-- Part of the host contract: a user logs out of a device. The row stays, to say when and why; a token that is dropped
-- already keeps its reason. False when the token is another user's, which is then left alone.
create or replace function tacet.remove_device(user_id uuid, device_token text)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform pg_advisory_xact_lock(hashtextextended('device ' || remove_device.device_token, 1952539493));
  update public.push_tokens t
  set invalidated_at = now(), invalidation_reason = 'logged_out'
  where lower(t.device_token) = remove_device.device_token
    and t.user_id = remove_device.user_id and t.invalidated_at is null;
  return found or not exists (
    select
    from public.push_tokens t
    where lower(t.device_token) = remove_device.device_token
    having count(*) > 0 and bool_and(t.user_id <> remove_device.user_id));
end
$$;

reset check_function_bodies;

revoke all on all functions in schema tacet from public;

insert into tacet.migrations (version, name) values (10, '0010_devices') on conflict do nothing;

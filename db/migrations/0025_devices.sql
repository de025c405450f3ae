-- A device token that moves to another user forgets the locale and the time zone of the one before, unless the registration
-- says them: both are of the person. Environment, app and platform are of the installation and stay.
--
-- A host that has replaced tacet.register_device keeps its own: only the text that 0010 installed is replaced.
do $outer$
begin
  perform from pg_proc p
  where p.oid = to_regprocedure('tacet.register_device(uuid, text, text, text, text, text, text, int)')
    and md5(p.prosrc) = '7c19b55822ca1b3e7a7e26e5ac1ccf2f';
  if not found then
    raise notice 'tacet: tacet.register_device is not the one that Tacet installed and stays as it is';
    return;
  end if;
  execute $create$
create or replace function tacet.register_device(
  user_id uuid, device_token text, environment text, app text, platform text, locale text, time_zone text,
  devices_max int
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $function$
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
$function$
  $create$;
end
$outer$;

revoke all on all functions in schema tacet from public;

do $$
begin
  perform tacet.grant_services();
end
$$;

insert into tacet.migrations (version, name) values (25, '0025_devices') on conflict do nothing;

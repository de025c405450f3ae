-- The tokens to which pushes of Live Activities go.

-- Keeps the token by which a user's device starts Live Activities of a type; a new one replaces the last one that the user has reported
-- for the device. Null removes it. Returns whether the type exists.
create or replace function tacet.put_start_token(
  user_id tacet.user_id, device_token text, type text, token text, app text, environment text
)
returns boolean
language plpgsql volatile
as $$
begin
  if not exists (select from tacet.activity_types t where t.name = put_start_token.type) then
    return false;
  end if;
  if token is null then
    delete from tacet.activity_start_tokens s
    where s.device_token = put_start_token.device_token and s.type = put_start_token.type and s.user_id = put_start_token.user_id;
    return true;
  end if;
  insert into tacet.activity_start_tokens as s (user_id, device_token, type, token, app, environment)
  values (
    put_start_token.user_id, put_start_token.device_token, put_start_token.type, put_start_token.token, put_start_token.app,
    put_start_token.environment)
  on conflict on constraint activity_start_tokens_pkey do update
  set
    token = excluded.token, app = coalesce(excluded.app, s.app),
    environment = coalesce(excluded.environment, s.environment), registered_at = clock_timestamp();
  -- A type has one token on each of a user's devices, and a user has few devices.
  delete from tacet.activity_start_tokens s
  where s.ctid = any (array(
    select o.ctid
    from tacet.activity_start_tokens o
    where o.user_id = put_start_token.user_id and o.type = put_start_token.type
    order by o.registered_at desc
    offset 50));
  return true;
end
$$;

-- Keeps the token by which a user's Live Activity is updated; a new one replaces the device's last one, which gets nothing more. The
-- newest state is pushed to it, unless the device has begun with that state. Of an ended activity the end is: one that went to the former
-- token may have been lost.
--
-- Returns false when there is no such activity of the user; see tacet.live_activity_of.
create or replace function tacet.put_activity_token(
  id text, user_id tacet.user_id, device_token text, token text, app text, environment text
)
returns boolean
language plpgsql volatile
as $$
declare
  running tacet.activities;
  declared tacet.activity_types;
  is_known boolean;
  is_registered boolean := exists (
    select from tacet.device_tokens(put_activity_token.user_id) d where lower(d.device_token) = put_activity_token.device_token);
begin
  select a.* into running
  from tacet.activities a
  where a.id = tacet.live_activity_of(put_activity_token.id, put_activity_token.user_id)
  for update;
  if not found then
    return false;
  end if;
  is_known := exists (
    select from tacet.activity_tokens k
    where k.activity_id = running.id and k.device_token = put_activity_token.device_token and k.token = put_activity_token.token);
  insert into tacet.activity_tokens as k (activity_id, device_token, token, app, environment, is_registered)
  values (
    running.id, put_activity_token.device_token, put_activity_token.token, put_activity_token.app, put_activity_token.environment,
    is_registered)
  on conflict on constraint activity_tokens_pkey do update
  set
    token = excluded.token, app = coalesce(excluded.app, k.app), environment = coalesce(excluded.environment, k.environment),
    is_registered = excluded.is_registered, registered_at = clock_timestamp();
  delete from tacet.activity_tokens k
  where k.ctid = any (array(
    select o.ctid from tacet.activity_tokens o where o.activity_id = running.id order by o.registered_at desc offset 50));
  if is_known or running.version <= 1 then
    return true;
  end if;
  select t.* into strict declared from tacet.activity_types t where t.name = running.type;
  if running.ended_at is null then
    perform tacet.push_live_activity(running, declared, 'update', running.state, null, 5, null);
  elsif running.end_reason <> 'app' then
    perform tacet.push_live_activity(running, declared, 'end', running.state, null, 10, null);
  end if;
  return true;
end
$$;

-- Takes a device's tokens from users who have it no more, and those whose device no app has said: what is theirs no longer goes there.
create or replace function tacet.leave_device(user_ids tacet.user_id[], device_token text)
returns void
language sql volatile
as $$
  delete from tacet.activity_tokens k
  using tacet.activities a
  where a.user_id = any (leave_device.user_ids) and k.activity_id = a.id and k.device_token in ('', leave_device.device_token);
  delete from tacet.activity_start_tokens s
  where s.user_id = any (leave_device.user_ids) and s.device_token = leave_device.device_token
$$;

-- The addresses of a push: for a start the devices' start tokens, of devices that are still the user's; else the tokens of the activity,
-- while they can live. Left out are tokens of devices that were the user's and are not, or are another's now, and those for which an
-- earlier push of the activity, which others have taken, waits because APNs asks to: that one brings the newest state.
create or replace function tacet.live_activity_addresses(running tacet.activities, event text, update_id uuid)
returns json
language plpgsql stable
as $$
begin
  -- Two queries: setting up one for both takes a tenth longer.
  if event = 'start' then
    return (
      select coalesce(json_agg(json_build_object('token', n.token, 'environment', n.environment, 'app', n.app)), '[]')
      from (
        select s.token, s.environment, s.app
        from tacet.activity_start_tokens s
        where s.user_id = running.user_id and s.type = running.type
          and s.device_token in (select lower(d.device_token) from tacet.device_tokens(running.user_id) d)
        limit 50
      ) n);
  end if;
  return (
    select coalesce(json_agg(json_build_object('token', n.token, 'environment', n.environment, 'app', n.app)), '[]')
    from (
      select k.token, k.environment, k.app
      from tacet.activity_tokens k
      where k.activity_id = running.id and running.started_at > clock_timestamp() - interval '8 hours 10 minutes'
        and (
          k.device_token = ''
          or k.device_token in (select lower(d.device_token) from tacet.device_tokens(running.user_id) d)
          or not k.is_registered and not exists (
            select from tacet.device_token_owners(k.device_token, 50) o
            where lower(o.device_token) = k.device_token and o.user_id <> running.user_id))
        and not exists (
          select from tacet.deliveries d
          join tacet.activity_updates x on x.id = tacet.row_of(d.subject_id) and x.activity_id = running.id and x.id <> update_id
          join tacet.push_log l
            on l.subject_id = d.subject_id and l.user_id = d.user_id and l.push_type = d.kind
          where d.user_id = running.user_id and d.kind = 'live_activity' and not d.is_claimed
            and k.token <> all (d.accepted_devices) and l.devices_accepted > 0
            and tacet.has_asked_to_wait(l.history, k.token))
      limit 50
    ) n);
end
$$;

-- Drops an address that its service calls dead: a Live Activity's alone, or a target that is kept here, or else a
-- device's. See tacet.invalidate_device_token. Says so to the host where it wants to know.
create or replace function tacet.drop_dead_device(device_token text, reason text, invalid_since timestamptz)
returns void
language plpgsql volatile
as $$
declare
  is_told boolean := exists (select from tacet.announcements a where a.event = 'device.dropped');
  users tacet.user_id[] := case when is_told then array(select tacet.users_of_device(device_token)) end;
  service text := (select t.channel from tacet.targets t where t.address = device_token and t.dropped_at is null limit 1);
  is_ours boolean;
begin
  delete from tacet.activity_tokens k
  where k.token = drop_dead_device.device_token and k.registered_at <= drop_dead_device.invalid_since;
  is_ours := found;
  delete from tacet.activity_start_tokens s
  where s.token = drop_dead_device.device_token and s.registered_at <= drop_dead_device.invalid_since;
  is_ours := found or is_ours;
  update tacet.targets t
  set dropped_at = now(), drop_reason = drop_dead_device.reason, fetch_digest = null, keys = null
  where t.address = drop_dead_device.device_token and t.registered_at <= drop_dead_device.invalid_since and t.dropped_at is null;
  if not (found or is_ours or exists (select from tacet.targets t where t.address = drop_dead_device.device_token)) then
    perform tacet.invalidate_device_token(device_token, reason, invalid_since);
    delete from tacet.target_wishes w
    where w.address = lower(drop_dead_device.device_token) and w.channel = 'apns'
      and not exists (select from tacet.device_tokens(w.user_id) d where lower(d.device_token) = w.address);
  end if;
  insert into tacet.host_events (type, user_id, reason, channel, device)
  select
    'device.dropped', u.user_id, drop_dead_device.reason, coalesce(service, 'apns'),
    left(tacet.target_mark(coalesce(service, 'apns'), drop_dead_device.device_token), 8)
  from unnest(users) as u (user_id)
  where is_told and u.user_id not in (select tacet.users_of_device(drop_dead_device.device_token));
end
$$;

-- Stores the environment in which APNs has accepted a token: a Live Activity's, or else a device's. See tacet.learn_token_environment.
create or replace function tacet.note_token_environment(
  device_token text, environment text, registered_environment text, registered_app text, read_at timestamptz
)
returns void
language plpgsql volatile
as $$
begin
  update tacet.activity_tokens k
  set environment = note_token_environment.environment
  where k.token = note_token_environment.device_token and k.environment is not distinct from registered_environment
    and k.registered_at <= read_at;
  if found then
    return;
  end if;
  update tacet.activity_start_tokens s
  set environment = note_token_environment.environment
  where s.token = note_token_environment.device_token and s.environment is not distinct from registered_environment
    and s.registered_at <= read_at;
  if not found then
    perform tacet.learn_token_environment(device_token, environment, registered_environment, registered_app, read_at);
  end if;
end
$$;

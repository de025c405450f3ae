-- Which events the host gets: tacet.announce and tacet.announce_nothing, and the triggers that they make.

-- Sends these events to the host, and no others: push.unread, push.sent, push.skipped, push.failed, device.dropped. The caller owns
-- this schema. kinds: of pushes; null for all. Without push.unread no push is looked at any more. What waits to be sent is sent.
--
-- When the ledger is locked for more than a second, it fails and changes nothing.
create or replace function tacet.announce(events text[], kinds text[] default null)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '1s'
as $$
begin
  delete from tacet.announcements;
  insert into tacet.announcements (event, kinds) select distinct e.event, announce.kinds from unnest(announce.events) as e (event);
  if not 'push.unread' = any (events) then
    delete from tacet.unread_checks;
  end if;
  if exists (select from tacet.announcements a where a.event like 'push.%') then
    create or replace trigger announce_decided after insert on tacet.push_log referencing new table as changed
      for each statement execute function tacet.announce_decisions();
    create or replace trigger announce_changed after update on tacet.push_log referencing old table as previous new table as changed
      for each statement execute function tacet.announce_decisions();
  else
    drop trigger if exists announce_decided on tacet.push_log;
    drop trigger if exists announce_changed on tacet.push_log;
  end if;
end
$$;

-- Sends no events to the host any more.
create or replace function tacet.announce_nothing()
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select tacet.announce('{}')
$$;

-- The triggers on the ledger: events for rows whose decision is new, and checks for pushes of kinds that escalate. A part of the
-- record's transaction, so that neither exists without the other.
create or replace function tacet.announce_decisions()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  decided uuid[];
begin
  if tg_op = 'INSERT' then
    decided := array(select c.id from changed c where c.decision <> 'held');
  else
    decided := array(
      select c.id from changed c join previous p on p.id = c.id where c.decision <> 'held' and c.decision <> p.decision);
  end if;
  if decided = '{}' then
    return null;
  end if;
  insert into tacet.host_events (type, user_id, log_id, subject_id, kind, reason, sent_at)
  select a.event, c.user_id, c.id, c.subject_id, c.push_type, c.reason, c.sent_at
  from changed c
  join tacet.announcements a on a.event = 'push.' || c.decision and (a.kinds is null or c.push_type = any (a.kinds))
  where c.id = any (decided)
  order by c.user_id, c.enqueued_at;
  insert into tacet.unread_checks (due_at, log_id, user_id)
  select coalesce(c.sent_at, clock_timestamp()) + w.after, c.id, c.user_id
  from changed c
  join tacet.announcements a on a.event = 'push.unread' and (a.kinds is null or c.push_type = any (a.kinds))
  join tacet.escalations e on e.kind = c.push_type
  left join tacet.unread_preferences p on p.user_id = c.user_id and p.kind = c.push_type
  cross join lateral (select case when p.user_id is null then e.after else p.after end) as w (after)
  where c.id = any (decided) and c.decision = 'sent' and not c.opened and w.after is not null
  on conflict do nothing;
  return null;
end
$$;

-- Users who have a device with this address, that pushes go to.
create or replace function tacet.users_of_device(address text)
returns setof tacet.user_id
language sql stable
as $$
  select t.user_id from tacet.targets t where t.address = users_of_device.address and t.dropped_at is null
  union
  select o.user_id
  from tacet.device_token_owners(lower(users_of_device.address), 50) o
  where lower(o.device_token) = lower(users_of_device.address)
    and exists (
      select from tacet.device_tokens(o.user_id) d where lower(d.device_token) = lower(users_of_device.address))
$$;

-- Drops an address as tacet.drop_dead_token, and says so to the host where it wants to know.
create or replace function tacet.drop_dead_device(device_token text, reason text, invalid_since timestamptz)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  users tacet.user_id[];
  service text;
begin
  if not exists (select from tacet.announcements a where a.event = 'device.dropped') then
    perform tacet.drop_dead_token(device_token, reason, invalid_since);
    return;
  end if;
  users := array(select tacet.users_of_device(device_token));
  service := coalesce(
    (select t.channel from tacet.targets t where t.address = device_token and t.dropped_at is null limit 1), 'apns');
  perform tacet.drop_dead_token(device_token, reason, invalid_since);
  insert into tacet.host_events (type, user_id, reason, channel, device)
  select
    'device.dropped', u.user_id, drop_dead_device.reason, service,
    left(tacet.target_mark(service, drop_dead_device.device_token), 8)
  from unnest(users) as u (user_id)
  where u.user_id not in (select tacet.users_of_device(drop_dead_device.device_token));
end
$$;

-- Fits Tacet to the tables of contract_tables.sql, after `tacet migrate --message-ids uuid --conversation-ids uuid --user-ids uuid`.
-- Copy it and write your tables. The first four functions are what every host needs; the others add something (db/CONTRACT.md).
--
-- Functions that return rows are single queries in SQL without SET, so that PostgreSQL makes them a part of the claim. Those that return
-- one value are PL/pgSQL, which keeps their plans. Arguments may be named as columns are, so they are qualified.

-- One row of a message, or none when it is gone or is not to be pushed: system posts and notes too. The claim reads it at each attempt,
-- so a held message that was edited is pushed as it is then.
--
-- sender_id: gets no push; null: everyone gets it. sender_name: the title, 1,024 characters; null: no name. body: 4,096 characters; null:
-- "New message". created_at null: the time of the insert. read_by: who has read it, the last 10,000; null: no one. prior_read_by and
-- prior_touched_at: who has read the newest other message, and when that row changed, a weaker sign of presence of apps that report none.
create or replace function tacet.message_context(message_id uuid)
returns table (
  conversation_id uuid, sender_id uuid, sender_name text, body text, created_at timestamptz, read_by uuid[],
  prior_read_by uuid[], prior_touched_at timestamptz
)
language sql stable
as $$
  select
    c.room, c.author, p.nick, left(c.body, 4096), c.written_at,
    array(select m.person from app.members m where m.room = c.room and m.read_until >= c.written_at), null::uuid[],
    null::timestamptz
  from app.chat c
  left join app.people p on p.id = c.author
  where c.id = message_context.message_id and c.kind = 'text' and c.removed_at is null
$$;

-- A row for each participant, the sender included. The claim calls it for each message, and for a held push with one user: an index on
-- conversation and user serves both. last_seen: when the user last looked; null: never. left_at: when the user's app left the
-- conversation; counts while it is not before last_seen.
create or replace function tacet.seen_by(conversation_id uuid)
returns table (user_id uuid, last_seen timestamptz, left_at timestamptz)
language sql stable
as $$
  select m.person, m.looked_at, m.gone_at from app.members m where m.room = seen_by.conversation_id
$$;

-- The devices of a user, the newest first; the service takes 50. device_token: hexadecimal, at most 512 digits. environment: production or
-- sandbox; null: the app's default. app: a bundle identifier; null: that of the settings.
create or replace function tacet.device_tokens(user_id uuid)
returns table (device_token text, environment text, app text)
language sql stable
as $$
  select f.token, case when f.sandbox then 'sandbox' else 'production' end, null::text
  from app.phones f
  where f.person = device_tokens.user_id and f.dead_since is null
  order by f.refreshed_at desc
  limit 50
$$;

-- Drops a token that APNs calls dead, unless it was registered again after invalid_since. reason: APNs' word, such as Unregistered.
create or replace function tacet.invalidate_device_token(device_token text, reason text, invalid_since timestamptz)
returns void
language sql volatile
as $$
  update app.phones f
  set dead_since = now()
  where f.token = invalidate_device_token.device_token and f.dead_since is null
    and f.refreshed_at <= invalidate_device_token.invalid_since
$$;

-- All addresses of a user, over all channels; the service takes 50. This is the default without preferences of content. Replace it only
-- where you keep browsers and Android apps yourself. channel: apns, web_push or fcm. address: at most 1,024 bytes. keys: a JSON object; of
-- web_push p256dh, auth and key of the subscription, of all content, sealing_key, locale and user_content.
create or replace function tacet.push_targets(user_id uuid)
returns table (channel text, address text, environment text, app text, keys text)
language sql stable
as $$
  select 'apns', d.device_token, d.environment, d.app, null::text
  from tacet.device_tokens(push_targets.user_id) d
  union all
  select t.channel, t.address, null::text, t.app, t.keys
  from tacet.targets t
  where t.user_id = push_targets.user_id and t.dropped_at is null
$$;

-- The badge: all unread messages of the user; null leaves the icon as it is. The claim calls it for each recipient with a device. PL/pgSQL
-- keeps its plan.
create or replace function tacet.unread_count(user_id uuid)
returns bigint
language plpgsql stable
as $$
begin
  return (
    select count(*)
    from app.members m
    cross join lateral (
      select
      from app.chat c
      where c.room = m.room and c.written_at > coalesce(m.read_until, '-infinity') and c.author <> m.person
        and c.kind = 'text' and c.removed_at is null
      limit 100
    ) c
    where m.person = unread_count.user_id);
end
$$;

-- Whether a user gets pushes at all: the account is in use. push_targets and the default of device_tokens call it.
create or replace function tacet.takes_pushes(user_id uuid)
returns boolean
language plpgsql stable
as $$
begin
  return exists (select from app.people p where p.id = takes_pushes.user_id);
end
$$;

-- A user's name as others see it, for {actor} of watched kinds and for an @ with the name; null without one.
create or replace function tacet.profile_name(user_id uuid)
returns text
language sql stable
as $$ select p.nick from app.people p where p.id = profile_name.user_id $$;

-- The zone in which a user lives; null: UTC. known_zone knows names of the tz database in any case, old names and offsets.
create or replace function tacet.user_time_zone(user_id uuid)
returns text
language plpgsql stable
as $$
begin
  return tacet.known_zone((select p.zone from app.people p where p.id = user_time_zone.user_id));
end
$$;

-- Writes who looks at which conversation (have_looked) and who has left it, for all reports of some milliseconds; no pair comes twice.
-- is_participant null: there is no such conversation. is_skipped: another session has locked the row, and the service asks again.
--
-- Keep three things: times of a row only grow, a look clears left_at, and leaving is never dated before a look.
create or replace function tacet.view_conversations(
  conversation_ids uuid[], user_ids uuid[], have_looked boolean[], have_left boolean[]
)
returns table (conversation_id uuid, user_id uuid, is_participant boolean, is_skipped boolean)
language sql volatile
as $$
  with reported as (
    select r.*
    from unnest(conversation_ids, user_ids, have_looked, have_left) as r (room, person, has_looked, has_left)
  ), locked as materialized (
    select m.room, m.person, r.has_looked, r.has_left
    from reported r
    join app.members m on m.room = r.room and m.person = r.person
    for no key update of m skip locked
  ), written as (
    update app.members m
    set
      looked_at = case when l.has_looked then clock_timestamp() else m.looked_at end,
      gone_at = case when l.has_left then clock_timestamp() end
    from locked l
    where m.room = l.room and m.person = l.person
    returning m.room, m.person
  )
  select
    r.room, r.person, tacet.takes_part(r.room, r.person),
    coalesce(tacet.takes_part(r.room, r.person), false)
      and not exists (select from written w where w.room = r.room and w.person = r.person)
  from reported r
$$;

-- Marks what others wrote as read, up to a message (null: all), the oldest first, at most a thousand. Returns their ids in that order. The
-- service calls it until it returns fewer.
create or replace function tacet.mark_read(conversation_id uuid, user_id uuid, up_to_message_id uuid)
returns setof uuid
language sql volatile
as $$
  with unread as materialized (
    select c.id, c.written_at
    from app.members m
    join app.chat c on c.room = m.room and c.written_at > coalesce(m.read_until, '-infinity') and c.author <> m.person
    where m.room = mark_read.conversation_id and m.person = mark_read.user_id
      and (mark_read.up_to_message_id is null
        or c.written_at <= (select u.written_at from app.chat u where u.id = mark_read.up_to_message_id))
    order by c.written_at, c.id
    limit 1000
  ), marked as (
    update app.members m
    set read_until = (select max(u.written_at) from unread u)
    where m.room = mark_read.conversation_id and m.person = mark_read.user_id and exists (select from unread)
  )
  select u.id from unread u order by u.written_at, u.id
$$;

-- Makes a token a user's, and no other's; the user keeps the devices_max newest. Null keeps the known value.
create or replace function tacet.register_device(
  user_id uuid, device_token text, environment text, app text, platform text, locale text, time_zone text, devices_max int
)
returns void
language sql volatile
as $$
  insert into app.phones as f (token, person, sandbox)
  values (register_device.device_token, register_device.user_id, coalesce(register_device.environment = 'sandbox', false))
  on conflict (token) do update
  set
    person = excluded.person, refreshed_at = clock_timestamp(), dead_since = null,
    sandbox = case when register_device.environment is null then f.sandbox else excluded.sandbox end
$$;

-- Drops a user's token after a log-out. False: it is another user's, and stays.
create or replace function tacet.remove_device(user_id uuid, device_token text)
returns boolean
language plpgsql volatile
as $$
begin
  delete from app.phones f where f.token = remove_device.device_token and f.person = remove_device.user_id;
  return found or not exists (select from app.phones f where f.token = remove_device.device_token);
end
$$;

-- Keeps where APNs has accepted a token that its registered environment refused, unless it was registered again after read_at.
create or replace function tacet.learn_token_environment(
  device_token text, environment text, registered_environment text, registered_app text, read_at timestamptz
)
returns void
language sql volatile
as $$
  update app.phones f
  set sandbox = learn_token_environment.environment = 'sandbox'
  where f.token = learn_token_environment.device_token and f.refreshed_at <= learn_token_environment.read_at
$$;

-- Who has registered a token that begins so, in lower case: for the search of /dashboard.
create or replace function tacet.device_token_owners(beginning text, owners_max int)
returns table (user_id uuid, device_token text)
language sql stable
as $$
  select f.person, f.token
  from app.phones f
  where f.token >= beginning and f.token < beginning || 'g'
  order by f.token
  limit owners_max
$$;

-- Triggers. The first is needed: it enqueues the push of each inserted message. With the arguments 'conversation_id', 'created_at' it
-- reads columns of these names (db/CONTRACT.md).
create trigger tacet_message_inserted
after insert on app.chat
referencing new table as inserted
for each statement execute function tacet.enqueue_inserted_messages();

-- Ends holds at once when a member looks, leaves or reads. Without it holds end after the presence window. A statement of the host must
-- not fail by it, so it catches errors.
create function app.release_members() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
begin
  perform tacet.release_conversation(n.room, n.person)
  from changed n
  join previous o on o.room = n.room and o.person = n.person
  where (n.looked_at, n.gone_at, n.read_until) is distinct from (o.looked_at, o.gone_at, o.read_until);
  return null;
exception
  when others then
    raise warning 'holds last until their window ends: %', sqlerrm;
    return null;
end
$$;
create trigger tacet_conversation_seen
after update on app.members
referencing old table as previous new table as changed
for each statement execute function app.release_members();

-- Takes a deleted message off the screens, and ends its holds.
create function app.release_removed() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
begin
  perform tacet.release_message(n.id)
  from changed n
  join previous o on o.id = n.id
  where n.removed_at is not null and o.removed_at is null;
  return null;
exception
  when others then
    raise warning 'holds last until their window ends: %', sqlerrm;
    return null;
end
$$;
create trigger tacet_message_deleted
after update on app.chat
referencing old table as previous new table as changed
for each statement execute function app.release_removed();

-- Erases a deleted user's rows of Tacet. The table has the user's id in a column id.
create trigger tacet_profile_deleted
after delete on app.people
referencing old table as deleted
for each statement execute function tacet.forget_deleted_profiles();

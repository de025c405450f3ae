-- What tacet init writes. Text in braces stands for what tacet.host says, a table in parentheses with the columns that the functions
-- read. A line that ends in "-- if" and a word is left out where that is not so; such a line alone is of all lines up to "-- end". Aliases
-- are the same everywhere: m a message, p a member, u a user, d a device, r a read, s a user's presence.

begin;
set local lock_timeout = '150ms';
set local client_min_messages = warning;

do $body$
begin
  if to_regprocedure('tacet.message_context({message_type})') is null
    or to_regprocedure('tacet.seen_by({conversation_type})') is null
    or to_regprocedure('tacet.device_tokens({user_type})') is null then
    raise exception 'run first: {migrate}';
  end if;
end
$body$;

-- Tables of this wiring. They are beside yours, because yours have no place for what apps report to Tacet, and outside schema public,
-- because interfaces such as PostgREST show that to every client.
create schema if not exists tacet_host;

-- When each user last looked at a conversation and left it, as the app reports to Tacet.
create table if not exists tacet_host.presence (
  conversation_id {conversation_type} not null,
  user_id {user_type} not null,
  last_seen timestamptz,
  left_at timestamptz,
  constraint presence_pkey primary key (conversation_id, user_id)
) with (fillfactor = 80);
create index if not exists presence_user_id_idx on tacet_host.presence (user_id);

-- if own_devices
-- Device tokens of APNs, which apps register with Tacet (PUT /v1/devices).
create table if not exists tacet_host.devices (
  user_id {user_type} not null,
  registered_at timestamptz not null default clock_timestamp(),
  device_token text primary key,
  environment text,
  app text,
  platform text,
  locale text,
  time_zone text
);
create index if not exists devices_user_id_idx on tacet_host.devices (user_id, registered_at);
-- end

-- One message, for the rules and the text of its push. No row for what is not pushed.
create or replace function tacet.message_context(message_id {message_type})
returns table (
  conversation_id {conversation_type}, sender_id {user_type}, sender_name text, body text, created_at timestamptz,
  read_by {user_type}[], prior_read_by {user_type}[], prior_touched_at timestamptz
)
language sql stable
as $body$
  select
    m.conversation_id::{conversation_type}, m.sender_id::{user_type}, {sender_name}, left(m.body, 4096), m.created_at,
    null::{user_type}[], -- if unread_by_nobody
    array( -- if marker
      select r.user_id::{user_type} -- if marker
      from {reads} r -- if marker
      where r.conversation_id = m.conversation_id -- if marker
        and r.mark >= m.position -- if last_read
        and (r.mark > m.position) is not false -- if first_unread
    ), -- if marker
    array(select r.user_id::{user_type} from {reads} r where r.message_id = m.id), -- if receipts
    case when m.is_read then array( -- if flag
      select p.user_id::{user_type} from {members} p -- if flag_of_members
      where p.conversation_id = m.conversation_id and p.user_id is distinct from m.sender_id -- if flag_of_members
      select m.recipient_id::{user_type} -- if flag_of_recipient
    ) end, -- if flag
    m.readers::{user_type}[], -- if readers
    null::{user_type}[], null::timestamptz
  from {messages} m
  left join {users} u on u.user_id = m.sender_id -- if names
  where m.id = message_context.message_id{message_cast} and m.conversation_id is not null
$body$;

-- Who takes part in a conversation, and when each last looked at it.
create or replace function tacet.seen_by(conversation_id {conversation_type})
returns table (user_id {user_type}, last_seen timestamptz, left_at timestamptz)
language sql stable
as $body$
  select -- if listed_once
  select distinct on (p.user_id) -- if listed_often
    p.user_id::{user_type}, greatest(p.seen_at, s.last_seen), greatest(p.left_at, s.left_at) -- if listed
  from {wanting_members} p -- if listed
  left join tacet_host.presence s on s.conversation_id = seen_by.conversation_id and s.user_id = p.user_id::{user_type} -- if listed
  where p.conversation_id = seen_by.conversation_id{conversation_cast} and p.user_id is not null -- if listed
  select u.user_id::{user_type}, s.last_seen, s.left_at -- if everyone
  from {wanting_users} u -- if everyone
  left join tacet_host.presence s on s.conversation_id = seen_by.conversation_id and s.user_id = u.user_id::{user_type} -- if everyone
  select distinct case when p.id ~ '{user_pattern}' then p.id::{user_type} end, s.last_seen, s.left_at -- if pairs
  from string_to_table(seen_by.conversation_id, '/') as p (id) -- if pairs
  left join tacet_host.presence s on s.conversation_id = seen_by.conversation_id and s.user_id::text = p.id -- if pairs
  where seen_by.conversation_id ~ '^[^/]+/[^/]+$' and p.id ~ '{user_pattern}' -- if pairs
$body$;

-- Whether a user takes part; null where nobody does.
create or replace function tacet.takes_part(conversation_id {conversation_type}, user_id {user_type})
returns boolean
language sql stable
as $body$
  select coalesce( -- if listed
    ( -- if listed
      select true -- if listed
      from {members} p -- if listed
      where p.conversation_id = takes_part.conversation_id{conversation_cast} -- if listed
        and p.user_id = takes_part.user_id{member_cast} -- if listed
      limit 1 -- if listed
    ), -- if listed
    (select false from {all_members} p where p.conversation_id = takes_part.conversation_id{conversation_cast} limit 1)) -- if listed
  select exists (select from {users} u where u.user_id = takes_part.user_id{user_cast}) -- if everyone
  select takes_part.conversation_id ~ '^[^/]+/[^/]+$' -- if pairs
    and takes_part.user_id::text = any (string_to_array(takes_part.conversation_id, '/')) -- if pairs
$body$;

-- What apps report of presence. A look clears left_at; leaving is dated after the look. Held pushes are looked at again.
create or replace function tacet.view_conversations(
  conversation_ids {conversation_type}[], user_ids {user_type}[], have_looked boolean[], have_left boolean[]
)
returns table (conversation_id {conversation_type}, user_id {user_type}, is_participant boolean, is_skipped boolean)
language plpgsql volatile
as $body$
#variable_conflict use_column
begin
  return query
    with reported as materialized (
      select r.room, r.person, r.has_looked, r.has_left, tacet.takes_part(r.room, r.person) as is_member
      from unnest(
        view_conversations.conversation_ids, view_conversations.user_ids, view_conversations.have_looked,
        view_conversations.have_left
      ) as r (room, person, has_looked, has_left)
    ), written as (
      insert into tacet_host.presence as s (conversation_id, user_id, last_seen, left_at)
      select
        r.room, r.person, case when r.has_looked then clock_timestamp() end, case when r.has_left then clock_timestamp() end
      from reported r
      where r.is_member
      order by r.room, r.person
      on conflict on constraint presence_pkey do update
      set last_seen = coalesce(excluded.last_seen, s.last_seen), left_at = excluded.left_at
    )
    select r.room, r.person, r.is_member, false from reported r;
  perform tacet.release_conversation(r.room, r.person)
  from unnest(view_conversations.conversation_ids, view_conversations.user_ids) as r (room, person);
end
$body$;

-- if badge
-- The badge: at most a hundred messages of each conversation.
create or replace function tacet.unread_count(user_id {user_type})
returns bigint
language plpgsql stable
as $body$
#variable_conflict use_column
begin
  return (
    select coalesce(sum(p.unread), 0)::bigint -- if counter
    from {wanting_members} p -- if counter
    where p.user_id = unread_count.user_id{member_cast} -- if counter
    select count(*) -- if counted
    from {wanting_members} p -- if counted
    left join {reads} r on r.conversation_id = p.conversation_id and r.user_id = p.user_id -- if counted_marker
    cross join lateral ( -- if counted
      select -- if counted
      from ( -- if counted
        select m.* -- if counted
        from {messages} m -- if counted
        where m.conversation_id = p.conversation_id and m.sender_id is distinct from p.user_id -- if counted
          and m.position > coalesce(r.mark, {beginning}) -- if counted_last_read
          and m.position >= r.mark -- if counted_first_unread
        order by m.position desc -- if counted
        limit 100 -- if counted
      ) m -- if counted
      where true -- if counted
        and not exists (select from {reads} r where r.message_id = m.id and r.user_id = p.user_id) -- if counted_receipts
        and m.is_read is not true -- if counted_flag
        and (p.user_id::{user_type} = any (m.readers::{user_type}[])) is not true -- if counted_readers
    ) unread -- if counted
    where p.user_id = unread_count.user_id{member_cast} -- if counted
    select count(*) -- if counted_pairs
    from ( -- if counted_pairs
      select -- if counted_pairs
      from {messages} m -- if counted_pairs
      where m.recipient_id = unread_count.user_id{user_cast} -- if counted_pairs
        and not exists (select from {reads} r where r.message_id = m.id and r.user_id = m.recipient_id) -- if pairs_receipts
        and m.is_read is not true -- if pairs_flag
        and (m.recipient_id::{user_type} = any (m.readers::{user_type}[])) is not true -- if pairs_readers
      limit 100 -- if counted_pairs
    ) unread -- if counted_pairs
  );
end
$body$;
-- end
-- if no_badge
-- No column says what was read, or how much is not, so the number on the icon stays as it is.
create or replace function tacet.unread_count(user_id {user_type})
returns bigint
language sql stable
as $body$ select null::bigint $body$;
-- end

-- if names
-- A user's name, as others see it.
create or replace function tacet.profile_name(user_id {user_type})
returns text
language sql stable
as $body$
  select u.name from {users} u where u.user_id = profile_name.user_id{user_cast}
$body$;
-- end

-- if zones
-- For quiet hours that name no zone.
create or replace function tacet.user_time_zone(user_id {user_type})
returns text
language plpgsql stable
as $body$
#variable_conflict use_column
begin
  return tacet.known_zone((select u.zone from {users} u where u.user_id = user_time_zone.user_id{user_cast}));
end
$body$;
-- end

-- Whether a user has an account that is in use, and wants pushes. A constant costs a claim nothing.
create or replace function tacet.takes_pushes(user_id {user_type})
returns boolean
language plpgsql stable -- if accounts
language sql stable -- if no_accounts
as $body$
#variable_conflict use_column -- if accounts
begin -- if accounts
  return exists (select from {wanting_users} u where u.user_id = takes_pushes.user_id{user_cast}); -- if accounts
end -- if accounts
  select true -- if no_accounts
$body$;

-- Whether a user wants nothing of a sender.
create or replace function tacet.has_blocked(user_id {user_type}, sender_id {user_type})
returns boolean
language plpgsql stable -- if blocks
language sql stable -- if no_blocks
as $body$
#variable_conflict use_column -- if blocks
begin -- if blocks
  return {blocks}; -- if blocks
end -- if blocks
  select false -- if no_blocks
$body$;

-- A user's devices, the newest first.
create or replace function tacet.device_tokens(user_id {user_type})
returns table (device_token text, environment text, app text)
language sql stable
as $body$
  select d.device_token, d.environment, d.app
  from {devices} d
  where d.user_id = device_tokens.user_id{device_cast} and d.device_token is not null
    and tacet.takes_pushes(device_tokens.user_id) -- if accounts
  order by d.registered_at desc nulls last
  limit 50
$body$;

-- Drops a token that APNs calls dead, unless it was registered again since.
create or replace function tacet.invalidate_device_token(device_token text, reason text, invalid_since timestamptz)
returns void
language sql volatile
as $body$
  {drop_device}
  where {device_token} = invalidate_device_token.device_token
    and coalesce({registered_at}, '-infinity') <= invalidate_device_token.invalid_since
$body$;

-- Who has a token that begins like this, for the search of the pages.
create or replace function tacet.device_token_owners(beginning text, owners_max int)
returns table (user_id {user_type}, device_token text)
language sql stable
as $body$
  select d.user_id::{user_type}, d.device_token
  from {all_devices} d
  where d.device_token >= device_token_owners.beginning and d.device_token < device_token_owners.beginning || 'g'
  order by d.device_token
  limit device_token_owners.owners_max
$body$;

-- if own_devices
-- Makes a token a user's, and no other's. The user keeps the newest devices.
create or replace function tacet.register_device(
  user_id {user_type}, device_token text, environment text, app text, platform text, locale text, time_zone text,
  devices_max int
)
returns void
language plpgsql volatile
as $body$
#variable_conflict use_column
begin
  insert into tacet_host.devices as d (user_id, device_token, environment, app, platform, locale, time_zone)
  select
    register_device.user_id, register_device.device_token, register_device.environment, register_device.app,
    register_device.platform, register_device.locale, register_device.time_zone
  where exists (select from {users} u where u.user_id = register_device.user_id{user_cast}) -- if users_of_own_devices
  on conflict (device_token) do update
  set
    user_id = excluded.user_id, registered_at = clock_timestamp(),
    environment = coalesce(excluded.environment, d.environment), app = coalesce(excluded.app, d.app),
    platform = coalesce(excluded.platform, d.platform), locale = excluded.locale, time_zone = excluded.time_zone;
  delete from tacet_host.devices d
  where d.device_token = any (array(
    select o.device_token
    from tacet_host.devices o
    where o.user_id = register_device.user_id
    order by o.registered_at desc
    offset register_device.devices_max));
end
$body$;

-- Drops a token after a log-out. False when it is another user's, which stays.
create or replace function tacet.remove_device(user_id {user_type}, device_token text)
returns boolean
language plpgsql volatile
as $body$
begin
  delete from tacet_host.devices d
  where d.device_token = remove_device.device_token and d.user_id = remove_device.user_id;
  return found or not exists (select from tacet_host.devices d where d.device_token = remove_device.device_token);
end
$body$;

-- Stores where APNs has accepted a token that another environment refused.
create or replace function tacet.learn_token_environment(
  device_token text, environment text, registered_environment text, registered_app text, read_at timestamptz
)
returns void
language sql volatile
as $body$
  update tacet_host.devices d
  set environment = learn_token_environment.environment
  where d.device_token = learn_token_environment.device_token and d.registered_at <= learn_token_environment.read_at
    and d.environment is not distinct from learn_token_environment.registered_environment
    and d.app is not distinct from learn_token_environment.registered_app
$body$;
-- end

{rights}

-- What needs a lock of your tables comes last. Inserts wait behind it at most 150 ms; then it is tried again a second later, for a
-- minute. Each inserted message becomes a push, and what Tacet knows of a deleted user goes too.
do $body$
begin
  for attempt in 1..60 loop
    begin
      {locking}
      exit;
    exception
      when lock_not_available then
        if attempt = 60 then
          raise;
        end if;
        perform pg_sleep(1);
    end;
  end loop;
end
$body$;
commit;

{indexes}

-- Now run tacet doctor. It plays a message through these functions and undoes it.

-- What tacet init writes and, in schema pg_temp, what tacet init --check runs; up to "-- template" it is definitions. Text in braces is filled
-- from tacet.host: {messages.sender} is that line's value, {messages.sender::} a cast to its type where its index needs one, {name} a
-- definition. A line with a name that is not there is left out, and so is one that ends in "-- if" and words of which one is not so ("!"
-- negates); such a line alone is of all lines up to "-- end". A definition without a line is not there. Aliases are the same everywhere: m a
-- message, p a member, u a user, d a device, r a read, b a block, s a user's presence.

-- define conversation
{messages.conversation}
least({messages.sender}, {messages.recipient})::text || '/' || greatest({messages.sender}, {messages.recipient})::text
-- end
-- define birth
null::timestamptz -- if !messages.written
tacet_host.as_moment({messages.written}) -- if !is_unzoned
-- Of any zone, so it is the latest moment that it can be; where that is not over, the insert counts. -- if is_unzoned
nullif(least(tacet_host.as_moment({messages.written}) + interval '13 hours', now()), now()) -- if is_unzoned
-- end
-- define position
{read.place}
{messages.written} -- if !read.place
id -- if !read.place !messages.written
-- end
-- define messages
(select
  {messages.recipient} as recipient_id,
  {messages.sender_name}::text as sender_name,
  {read.flag} as is_read,
  tacet_host.as_list({read.array}) as readers,
  id, {conversation} as conversation_id, {messages.sender} as sender_id, tacet_host.as_text({messages.text}) as body,
  {birth} as created_at, {position} as position
from {messages.table}
where {messages.only}
)
-- end
-- define members
select
  {members.unread} as unread,
  {members.reasons} as reasons, -- if check
  '' as reasons, -- if check !members.reasons
  tacet_host.as_moment({members.seen}) as seen_at,
  null::timestamptz as seen_at, -- if !members.seen
  tacet_host.as_moment({members.left}) as left_at,
  null::timestamptz as left_at, -- if !members.left
  {members.conversation} as conversation_id, {members.user} as user_id,
  {members.only} and
  true as takes_part,
  {members.only} and
  {members.wants} and
  true as wants_pushes
from {members.table} -- if !members.latest
from ( -- if members.latest
  select distinct on ({members.conversation}, {members.user}) * from {members.table} -- if members.latest
  order by {members.conversation}, {members.user}, {members.latest} desc
) newest -- if members.latest
-- end
-- define users
(select
  {users.name}::text as name,
  tacet_host.as_text({users.zone}) as zone,
  {users.reasons} as reasons, -- if check
  {users.id} as user_id,
  {users.only} and
  {users.wants} and
  true as is_in_use
from {users.table})
-- end
-- define reads
(select
  distinct on ({read.conversation}, {read.user}) -- if repeats_marks
  {read.conversation} as conversation_id, {read.mark} as mark, {read.user} as user_id
  {read.message} as message_id, {read.user} as user_id
  {members.conversation} as conversation_id, {read.mark} as mark, {members.user} as user_id -- if !read.table
from {read.table}
from {members.table} -- if !read.table
where {read.only}
order by {read.conversation}, {read.user}, {read.mark} desc nulls last -- if repeats_marks
)
-- end
-- define device_token
device_token -- if !devices.table
lower(substring({devices.token}::text from '[0-9A-Fa-f]{64,}$'))
-- end
-- define registered_at
registered_at -- if !devices.table
tacet_host.as_moment({devices.registered})
null::timestamptz -- if devices.table !devices.registered
-- end
-- define devices_table
tacet_host.devices -- if !devices.table
{devices.table}
-- end
-- define devices
(select
  user_id, environment, app, -- if !devices.table
  {devices.user} as user_id,
  case when lower({devices.environment}::text) in ('sandbox', 'development', 'true') then 'sandbox'
    when {devices.environment}::text <> '' then 'production' end as environment,
  null::text as environment, -- if devices.table !devices.environment
  {devices.app}::text as app,
  null::text as app, -- if devices.table !devices.app
  {devices.only} and
  coalesce(lower({devices.platform}), 'ios') in ('', 'ios', 'ipados', 'macos', 'watchos', 'tvos', 'visionos', 'apns', 'apple') and
  true as is_used, {device_token} as device_token, {registered_at} as registered_at
from {devices_table})
-- end
-- define block
exists (
  select
  from (
    select {blocks.blocker} as user_id, {blocks.blocked} as sender_id from {blocks.table}
    where {blocks.only}
  ) b
  where b.user_id = has_blocked.user_id{blocks.blocker::} and b.sender_id = has_blocked.sender_id{blocks.blocked::}
)
-- end
-- A user's id in the id of a conversation of two.
-- define user_pattern
^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$ -- if users_uuid
^-?[0-9]{1,18}$ -- if users_bigint
. -- if users_text
-- end
-- What the service may do there its rights say.
-- define policy
drop policy if exists tacet_service on {table};
create policy tacet_service on {table} to {role} using (true) with check (true);
-- end
-- define key
if not exists (
  select from pg_constraint k where k.conrelid = 'tacet_host.{own}'::regclass and k.conname = '{own}_user_id_fkey')
then
  alter table tacet_host.{own} add constraint {own}_user_id_fkey
  foreign key (user_id) references {users.table} ({users.id}) on delete cascade;
end if;
-- end
-- define member_index
, ('tacet_participants_user_idx{number}', $body${members.table}$body$, array[$body${members.user}$body$], null)
-- end
-- define block_index
, ('tacet_blocks_idx{number}', $body${blocks.table}$body$, array[$body${blocks.blocker}$body$, $body${blocks.blocked}$body$], null)
-- end
-- template
-- if !check
begin;
set local lock_timeout = '150ms';
set local client_min_messages = warning;

do $body$
begin
  if to_regprocedure('tacet.message_context({message_type})') is null
    or to_regprocedure('tacet.seen_by({conversation_type})') is null
    or to_regprocedure('tacet.device_tokens({user_type})') is null then
    raise exception 'run first: tacet migrate --message-ids {message_type} --conversation-ids {conversation_type} --user-ids {user_type}';
  end if;
end
$body$;

-- Tables of this wiring. They are beside yours, because yours have no place for what apps report to Tacet, and outside schema public,
-- because interfaces such as PostgREST show that to every client.
create schema if not exists tacet_host;
-- end
-- if makes_tables

-- When each user last looked at a conversation and left it, as the app reports to Tacet.
create table if not exists tacet_host.presence (
  conversation_id {conversation_type} not null,
  user_id {user_type} not null,
  last_seen timestamptz,
  left_at timestamptz,
  constraint presence_pkey primary key (conversation_id, user_id)
) with (fillfactor = 80);
create index if not exists presence_user_id_idx on tacet_host.presence (user_id);

-- if !devices.table
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
-- end

-- Values of your tables as Tacet reads them, whatever their type is. A time without a zone is taken for UTC, and a number for seconds,
-- milliseconds or microseconds since 1970: of a moment after 1973 only one of the three fits. Of JSON it takes the member that editors of
-- rich text put the plain text into.
create or replace function tacet_host.as_moment(value timestamptz) returns timestamptz language sql immutable as $$ select value $$;
create or replace function tacet_host.as_moment(value timestamp) returns timestamptz language sql immutable
as $$ select value at time zone 'UTC' $$;
create or replace function tacet_host.as_moment(value text) returns timestamptz language sql stable
as $$ select value::timestamptz $$;
create or replace function tacet_host.as_moment(value float8) returns timestamptz language sql immutable
as $$ select to_timestamp(nullif(value, 0) / case when value > 1e14 then 1e6 when value > 1e11 then 1e3 else 1 end) $$;
create or replace function tacet_host.as_text(value text) returns text language sql immutable as $$ select value $$;
create or replace function tacet_host.as_text(value json) returns text language sql immutable as $$
  select case when json_typeof(value) = 'string' then value #>> '{}' else coalesce(value ->> 'text', value ->> 'txt', value ->> 'body') end
$$;
create or replace function tacet_host.as_text(value jsonb) returns text language sql immutable as $$ select tacet_host.as_text(value::json) $$;
create or replace function tacet_host.as_list(value anyarray) returns anyarray language sql immutable as $$ select value $$;
create or replace function tacet_host.as_list(value json) returns text[] language sql immutable
as $$ select array(select json_array_elements_text(value)) $$;
create or replace function tacet_host.as_list(value jsonb) returns text[] language sql immutable
as $$ select array(select jsonb_array_elements_text(value)) $$;

-- One message, for the rules and the text of its push. No row for what is not pushed.
create or replace function tacet.message_context(message_id {message_type})
returns table (
  conversation_id {conversation_type}, sender_id {user_type}, sender_name text, body text, created_at timestamptz,
  read_by {user_type}[], prior_read_by {user_type}[], prior_touched_at timestamptz
)
language sql stable
as $body$
  select
    m.conversation_id::{conversation_type}, m.sender_id::{user_type},
    coalesce(
      nullif(u.name, ''), -- if users.name
      m.sender_name, -- if messages.sender_name
      null::text), left(m.body, 4096), m.created_at,
    null::{user_type}[], -- if !reading
    array( -- if read.mark
      select r.user_id::{user_type} -- if read.mark
      from {reads} r -- if read.mark
      where r.conversation_id = m.conversation_id -- if read.mark
        and r.mark >= m.position -- if read.mark !read.first_unread
        and (r.mark > m.position) is not false -- if read.first_unread
    ), -- if read.mark
    array(select r.user_id::{user_type} from {reads} r where r.message_id = m.id), -- if read.message
    case when m.is_read then array( -- if read.flag
      select p.user_id::{user_type} from ({members}) p -- if read.flag members.table
      where p.conversation_id = m.conversation_id and p.takes_part and p.user_id is distinct from m.sender_id -- if read.flag members.table
      select m.recipient_id::{user_type} -- if read.flag messages.recipient
    ) end, -- if read.flag
    m.readers::{user_type}[], -- if read.array
    null::{user_type}[], null::timestamptz
  from {messages} m
  left join {users} u on u.user_id = m.sender_id -- if users.name
  where m.id = message_context.message_id{messages.id::} and m.conversation_id is not null
$body$;

-- Who takes part in a conversation, and when each last looked at it.
create or replace function tacet.seen_by(conversation_id {conversation_type})
returns table (user_id {user_type}, last_seen timestamptz, left_at timestamptz)
language sql stable
as $body$
  select -- if once
  select distinct on (p.user_id) -- if members.table !once
    p.user_id::{user_type}, greatest(p.seen_at, s.last_seen), greatest(p.left_at, s.left_at) -- if members.table
  from ({members}) p -- if members.table
  left join tacet_host.presence s on s.conversation_id = seen_by.conversation_id and s.user_id = p.user_id::{user_type} -- if members.table
  where p.conversation_id = seen_by.conversation_id{members.conversation::} and p.wants_pushes and p.user_id is not null -- if members.table
  select u.user_id::{user_type}, s.last_seen, s.left_at -- if everyone
  from {users} u -- if everyone
  left join tacet_host.presence s on s.conversation_id = seen_by.conversation_id and s.user_id = u.user_id::{user_type} -- if everyone
  where u.is_in_use -- if everyone
  select distinct case when p.id ~ '{user_pattern}' then p.id::{user_type} end, s.last_seen, s.left_at -- if messages.recipient
  from string_to_table(seen_by.conversation_id, '/') as p (id) -- if messages.recipient
  left join tacet_host.presence s on s.conversation_id = seen_by.conversation_id and s.user_id::text = p.id -- if messages.recipient
  where seen_by.conversation_id ~ '^[^/]+/[^/]+$' and p.id ~ '{user_pattern}' -- if messages.recipient
$body$;

-- Whether a user takes part; null where nobody does.
create or replace function tacet.takes_part(conversation_id {conversation_type}, user_id {user_type})
returns boolean
language sql stable
as $body$
  select coalesce( -- if members.table
    ( -- if members.table
      select true -- if members.table
      from ({members}) p -- if members.table
      where p.conversation_id = takes_part.conversation_id{members.conversation::} -- if members.table
        and p.user_id = takes_part.user_id{members.user::} and p.takes_part -- if members.table
      limit 1 -- if members.table
    ), -- if members.table
    (select false from ({members}) p where p.conversation_id = takes_part.conversation_id{members.conversation::} limit 1)) -- if members.table
  select exists (select from {users} u where u.user_id = takes_part.user_id{users.id::}) -- if everyone
  select takes_part.conversation_id ~ '^[^/]+/[^/]+$' -- if messages.recipient
    and takes_part.user_id::text = any (string_to_array(takes_part.conversation_id, '/')) -- if messages.recipient
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
    select coalesce(sum(p.unread), 0)::bigint -- if members.unread
    select count(*) -- if !members.unread
    from ({members}) p -- if members.table
    left join {reads} r on r.conversation_id = p.conversation_id and r.user_id = p.user_id -- if counted read.mark
    cross join lateral ( -- if counted
      select -- if counted
      from ( -- if counted
        select m.* -- if counted
        from {messages} m -- if counted
        where m.conversation_id = p.conversation_id and m.sender_id is distinct from p.user_id -- if counted
          and m.position > coalesce(r.mark, {beginning}) -- if counted read.mark !read.first_unread
          and m.position >= r.mark -- if counted read.first_unread
        order by m.position desc -- if counted
        limit 100 -- if counted
      ) m -- if counted
      where true -- if counted
        and not exists (select from {reads} r where r.message_id = m.id and r.user_id = p.user_id) -- if counted read.message
        and m.is_read is not true -- if counted read.flag
        and (p.user_id::{user_type} = any (m.readers::{user_type}[])) is not true -- if counted read.array
    ) unread -- if counted
    where p.user_id = unread_count.user_id{members.user::} and p.wants_pushes -- if members.table
    from ( -- if messages.recipient
      select -- if messages.recipient
      from {messages} m -- if messages.recipient
      where m.recipient_id = unread_count.user_id{messages.recipient::} -- if messages.recipient
        and not exists (select from {reads} r where r.message_id = m.id and r.user_id = m.recipient_id) -- if messages.recipient read.message
        and m.is_read is not true -- if messages.recipient read.flag
        and (m.recipient_id::{user_type} = any (m.readers::{user_type}[])) is not true -- if messages.recipient read.array
      limit 100 -- if messages.recipient
    ) unread -- if messages.recipient
  );
end
$body$;
-- end
-- if !badge
-- No column says what was read, or how much is not, so the number on the icon stays as it is.
create or replace function tacet.unread_count(user_id {user_type})
returns bigint
language sql stable
as $body$ select null::bigint $body$;
-- end

-- if users.name
-- A user's name, as others see it.
create or replace function tacet.profile_name(user_id {user_type})
returns text
language sql stable
as $body$
  select u.name from {users} u where u.user_id = profile_name.user_id{users.id::}
$body$;
-- end

-- if users.zone
-- For quiet hours that name no zone.
create or replace function tacet.user_time_zone(user_id {user_type})
returns text
language plpgsql stable
as $body$
#variable_conflict use_column
begin
  return tacet.known_zone((select u.zone from {users} u where u.user_id = user_time_zone.user_id{users.id::}));
end
$body$;
-- end

-- Whether a user has an account that is in use, and wants pushes. A constant costs a claim nothing.
create or replace function tacet.takes_pushes(user_id {user_type})
returns boolean
language plpgsql stable -- if users.reasons
language sql stable -- if !users.reasons
as $body$
#variable_conflict use_column -- if users.reasons
begin -- if users.reasons
  return exists ( -- if users.reasons
    select from {users} u where u.user_id = takes_pushes.user_id{users.id::} and u.is_in_use); -- if users.reasons
end -- if users.reasons
  select true -- if !users.reasons
$body$;

-- Whether a user wants nothing of a sender.
create or replace function tacet.has_blocked(user_id {user_type}, sender_id {user_type})
returns boolean
language plpgsql stable -- if block
language sql stable -- if !block
as $body$
#variable_conflict use_column -- if block
begin -- if block
  return {block};
end -- if block
  select false -- if !block
$body$;

-- A user's devices, the newest first.
create or replace function tacet.device_tokens(user_id {user_type})
returns table (device_token text, environment text, app text)
language sql stable
as $body$
  select d.device_token, d.environment, d.app
  from {devices} d
  where d.user_id = device_tokens.user_id{devices.user::} and d.device_token is not null and d.is_used
    and tacet.takes_pushes(device_tokens.user_id) -- if users.reasons
  order by d.registered_at desc nulls last
  limit 50
$body$;

-- Drops a token that APNs calls dead, unless it was registered again since.
create or replace function tacet.invalidate_device_token(device_token text, reason text, invalid_since timestamptz)
returns void
language sql volatile
as $body$
  delete from {devices_table} -- if is_deleted
  update {devices.table} set {devices.token} = null -- if is_cleared !is_required
  update {devices.table} set {devices.token} = '' -- if is_cleared is_required
  update {devices.table} set {devices.dead} = now() -- if !is_deleted !is_cleared
  where {device_token} = invalidate_device_token.device_token
    and coalesce({registered_at}, '-infinity') <= invalidate_device_token.invalid_since
$body$;

-- Who has a token that begins like this, for the search of the pages.
create or replace function tacet.device_token_owners(beginning text, owners_max int)
returns table (user_id {user_type}, device_token text)
language sql stable
as $body$
  select d.user_id::{user_type}, d.device_token
  from {devices} d
  where d.device_token >= device_token_owners.beginning and d.device_token < device_token_owners.beginning || 'g'
  order by d.device_token
  limit device_token_owners.owners_max
$body$;

-- if !devices.table
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
  where exists (select from {users} u where u.user_id = register_device.user_id{users.id::}) -- if users.table
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

-- if check
-- What becomes of a message, and of the newest messages of some conversations, line by line. Everybody whom the tables name beside a message
-- is there, with what keeps the push away. At most 200 messages, 5 conversations and 20 people are looked at. has_badges: without the
-- wiring's indexes counting takes long in a large table.
create function tacet.played(inserted {message_type}, has_badges boolean)
returns text
language sql stable
as $body$
  with newest as materialized (
    select m.id, m.conversation_id, m.position from {messages} m where m.conversation_id is not null order by m.id desc limit 200
  ), chosen as (
    select n.id from (
      select distinct on (n.conversation_id) n.* from newest n order by n.conversation_id, n.position desc
    ) n order by n.position desc limit 5
  )
  select string_agg(concat_ws(E'\n',
    regexp_replace(format('message %s in %s: %s: %s', c.id, m.conversation_id, left(coalesce(m.sender_name, 'without a name'), 80),
      left(coalesce(m.body, 'without a text'), 80)), '[[:cntrl:]]', ' ', 'g'),
    format('  %s of %s people would get it, %s of them %s a device', p.reached, p.people, p.devices,
      case when p.devices = 1 then 'has' else 'have' end), p.lines,
    case when p.reached = 0 then '  warning: nobody would get it'
      when p.devices = 0 then '  warning: none of those who would get it has a device' end), E'\n')
    || E'\nread none: a push comes although the message was read elsewhere, and only a line unread of members makes a badge' -- if !reading
    || E'\nmembers everyone: every user gets every message' -- if everyone
  from (select inserted as id where inserted is not null union select chosen.id::{message_type} from chosen) c
  cross join lateral tacet.message_context(c.id) m
  cross join lateral (
    select
      count(*) as people, count(*) filter (where w.reasons = '') as reached,
      count(*) filter (where w.reasons = '' and w.has_device) as devices,
      string_agg(regexp_replace(case
        when w.reasons <> '' then format('  not %s: %s', w.user_id, w.reasons)
        else concat('  ', w.user_id, ', badge ' || w.badge, case when not w.has_device then ', without a device' end)
      end, '[[:cntrl:]]', ' ', 'g'), E'\n') as lines
    from (
      select
        w.user_id, exists (select from tacet.device_tokens(w.user_id)) as has_device,
        case when has_badges then tacet.unread_count(w.user_id) end as badge,
        concat_ws('; ',
          case when w.user_id = m.sender_id then 'is the sender' end, nullif(w.reasons, ''),
          (select nullif(u.reasons, '') from {users} u where u.user_id = w.user_id{users.id::}), -- if users.reasons
          case when tacet.has_blocked(w.user_id, m.sender_id) then 'has blocked the sender' end,
          case when w.user_id = any (m.read_by) then 'has read it' end) as reasons
      from (
        select p.user_id::{user_type}, p.reasons from ({members}) p where p.conversation_id = m.conversation_id{members.conversation::} -- if members.table
        select s.user_id, '' as reasons from tacet.seen_by(m.conversation_id) s -- if messages.recipient
        select u.user_id::{user_type}, '' as reasons from {users} u -- if everyone
        limit 20
      ) w
    ) w
  ) p
$body$;

-- A copy of the newest message, with an id that no other gets, and its insert as the application does it: without what the table fills in
-- itself and what has to be unique, and where Supabase's policies look, for the sender.
create temporary table copied on commit drop as select * from {messages.table} order by id desc limit 1;
update pg_temp.copied set {messages.written} = now(); -- if is_dated
update pg_temp.copied set id = -1 - floor(random() * 2e9); -- if messages_bigint
update pg_temp.copied set id = gen_random_uuid(); -- if !messages_bigint
create function tacet.copy_id() returns text language sql stable as $body$ select id::text from pg_temp.copied $body$;
create function tacet.insert_copy()
returns void
language plpgsql volatile
as $body$
declare
  names text;
begin
  select string_agg(format('%I', a.attname), ', ') into names
  from pg_attribute a
  where a.attrelid = {messages_text}::regclass and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    and (a.attname = 'id' or a.attidentity = '' and not exists (
      select
      from pg_index i
      where i.indrelid = a.attrelid and i.indisunique and i.indnkeyatts = 1 and i.indkey[0] = a.attnum
        and (a.atthasdef or not a.attnotnull)));
  perform set_config('request.jwt.claims', (
    select jsonb_build_object('sub', {messages.sender}, 'role', current_user)::text from pg_temp.copied as {messages_alias}), true);
  execute format('insert into %1$s (%2$s) overriding system value select %2$s from pg_temp.copied', {messages_text}::regclass, names);
end
$body$;
grant select on pg_temp.copied to public;
grant select on tacet_host.presence to public; -- if makes_tables
grant select on tacet_host.devices to public; -- if makes_tables !devices.table
-- end
-- if !check
-- if role
-- What the service's role needs.
select tacet.grant_service($body${role}$body$);
grant usage on schema tacet_host, {read_schemas} to {role};
grant select on {read_tables} to {role};
grant select, insert, update, delete on all tables in schema tacet_host to {role};
grant delete on {devices.table} to {role}; -- if devices.table is_deleted
grant update ({devices.token}) on {devices.table} to {role}; -- if is_cleared
grant update ({devices.dead}) on {devices.table} to {role}; -- if !is_deleted !is_cleared
-- end
-- if !role
-- A service with a role of its own needs rights here: a line role of the mapping writes them.
-- end

-- What needs a lock of your tables comes last. Inserts wait behind it at most 150 ms; then it is tried again a second later, for a
-- minute. Each inserted message becomes a push, and what Tacet knows of a deleted user goes too.
do $body$
begin
  for attempt in 1..60 loop
    begin
      {policy}
      {key} -- if keeps_users
      create or replace trigger tacet_profile_deleted -- if erases_users
      after delete on {users.table} -- if erases_users
      referencing old table as deleted -- if erases_users
      for each statement execute function tacet.forget_deleted_profiles(); -- if erases_users
      -- It does not fire for inserts that name a partition; make it on each partition if you have such. -- if is_partitioned
      create or replace trigger tacet_message_inserted
      after insert on {messages.table}
      referencing new table as inserted
      for each statement execute function tacet.enqueue_inserted_messages(); -- if !names_conversation
      for each statement execute function tacet.enqueue_inserted_messages('conversation_id'); -- if names_conversation !names_date
      for each statement execute function tacet.enqueue_inserted_messages('conversation_id', 'created_at'); -- if names_conversation names_date
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

-- Indexes that the functions need and your tables lack: psql builds one after the other while others write. Those of partitioned tables
-- block writers: build them beforehand on each partition if these are large.
select format('drop index concurrently %s', i.indexrelid::regclass)
from pg_index i
join pg_class c on c.oid = i.indexrelid
where not i.indisvalid and c.relname ~ '^tacet_(participants|reads|devices|messages|recipients|blocks)_'
\gexec
with wanted (name, source, columns, expression) as (
  values
    (null, null, null::text[], null)
    , ('tacet_participants_idx', $body${members.table}$body$, array[$body${members.conversation}$body$, $body${members.user}$body$], null)
    {member_index}
    , ('tacet_reads_idx', $body${read.table}$body$, array[$body${read.message}$body$, $body${read.user}$body$], null)
    , ('tacet_reads_idx', $body${read.table}$body$, array[$body${read.conversation}$body$, $body${read.user}$body$], null)
    , ('tacet_messages_idx', $body${messages.table}$body$, array[$body${messages.conversation}$body$, $body${position}$body$], null) -- if reading
    , ('tacet_recipients_idx', $body${messages.table}$body$, array[$body${messages.recipient}$body$], null) -- if reading
    {block_index}
    , ('tacet_devices_user_idx', $body${devices.table}$body$, array[$body${devices.user}$body$], null)
    , ('tacet_devices_token_idx', $body${devices.table}$body$, '{}', $body$({device_token})$body$) -- if devices.table
)
select format(
  'create index %s if not exists %I on %s (%s)', case when c.relkind = 'r' then 'concurrently' end, w.name, w.source,
  coalesce(w.expression, k.names))
from wanted w
join pg_class c on c.oid = w.source::regclass and c.relkind in ('r', 'p')
cross join lateral (
  select count(*) as count, array_agg(a.attnum order by n.place) as numbers, string_agg(n.name, ', ' order by n.place) as names
  from unnest(w.columns) with ordinality n (name, place)
  join pg_attribute a on a.attrelid = c.oid and n.name in (a.attname, '"' || replace(a.attname, '"', '""') || '"')
) k
where w.expression is not null or k.count = cardinality(w.columns) and not exists (
  select
  from pg_index i
  where i.indrelid = c.oid and i.indisvalid and i.indpred is null
    and (i.indkey::int2[])[0:cardinality(w.columns) - 1] = k.numbers)
\gexec

-- Now run tacet doctor. It plays a message through these functions and undoes it.
-- end

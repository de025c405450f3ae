-- Defaults of the host contract, whose functions db/CONTRACT.md describes: messages, conversations and names.

-- A created_at without a time zone says nothing to the hour: it is a time of UTC to some frameworks, and of the session's zone to
-- others. It counts as the latest moment that it can be, so a message is dated by its insert, and an old one that is imported stays
-- old. An updated_at without a time zone is no sign of presence.
--
-- A partitioned table is searched in its partitions of the last two days first: a look-up by id alone visits every partition.
call tacet.provide('message_context(tacet.message_id)', is_tried => true, definition => $default$
create or replace function tacet.message_context(message_id tacet.message_id)
returns table (
  conversation_id tacet.conversation_id,
  sender_id tacet.user_id,
  sender_name text,
  body text,
  created_at timestamptz,
  read_by tacet.user_id[],
  prior_read_by tacet.user_id[],
  prior_touched_at timestamptz
)
language sql stable
as $$
  select
    m.conversation_id, m.from_id,
    p.name, -- if profiles.name
    null::text, -- unless profiles.name
    left(m.text, 4096),
    m.created_at, -- unless messages.created_at_unzoned
    nullif(least(m.created_at at time zone 'UTC' + interval '13 hours', now()), now()), -- if messages.created_at_unzoned
    m.read_by, prior.read_by,
    prior.updated_at -- unless messages.updated_at_unzoned
    null::timestamptz -- if messages.updated_at_unzoned
  from public.messages m -- unless messages.partitioned
  from ( -- if messages.partitioned
    select n.* from public.messages n -- if messages.partitioned
    where n.id = message_context.message_id and n.created_at >= now() - interval '2 days' -- if messages.partitioned
    union all -- if messages.partitioned
    select n.* from public.messages n where n.id = message_context.message_id -- if messages.partitioned
    limit 1 -- if messages.partitioned
  ) m -- if messages.partitioned
  left join public.profiles p on p.id = m.from_id -- if profiles.name
  left join lateral (
    select o.read_by, o.updated_at
    from public.messages o
    where o.conversation_id = m.conversation_id and o.id <> m.id
      and o.created_at <= now() -- unless messages.created_at_unzoned
    order by o.created_at desc
    limit 1
  ) prior on true
  where m.id = message_context.message_id
    and shown(m) -- if messages.shown
$$
$default$);

-- A left_at is the host's, of members who have left.
call tacet.provide('seen_by(tacet.conversation_id)', is_tried => true, definition => $default$
create or replace function tacet.seen_by(conversation_id tacet.conversation_id)
returns table (user_id tacet.user_id, last_seen timestamptz, left_at timestamptz)
language sql stable
as $$
  select
    c.user_id,
    c.last_seen, -- if conversation_participants.last_seen
    null::timestamptz, -- unless conversation_participants.last_seen
    c.tacet_left_at -- if conversation_participants.tacet_left_at
    null::timestamptz -- unless conversation_participants.tacet_left_at
  from public.conversation_participants c
  where c.conversation_id = seen_by.conversation_id
    and shown(c) -- if conversation_participants.shown
$$
$default$);

call tacet.provide('unread_count(tacet.user_id)', inert => 'select null::bigint', definition => $default$
-- Needs public.conversation_participants and public.messages.
create or replace function tacet.unread_count(user_id tacet.user_id)
returns bigint
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return (select n.unread from tacet.count_unread(unread_count.user_id) n);
end
$$
$default$);

-- An @ and the name, in any case, without a letter or digit after it.
call tacet.provide('is_mentioned(tacet.message_id, tacet.user_id)', inert => $inert$
  select exists (
    select from tacet.message_context(is_mentioned.message_id) m
    cross join lateral btrim(tacet.profile_name(is_mentioned.user_id)) as n (name)
    cross join lateral string_to_table(lower(m.body), '@' || lower(n.name)) with ordinality as behind (text, place)
    where n.name <> '' and behind.place > 1 and left(behind.text, 1) !~ '[[:alnum:]]')
$inert$, definition => $default$
create or replace function tacet.is_mentioned(message_id tacet.message_id, user_id tacet.user_id)
returns boolean
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return exists (
    select from public.messages m
    join public.profiles p on p.id = is_mentioned.user_id and btrim(p.name) <> ''
    cross join lateral string_to_table(lower(left(m.text, 4096)), '@' || lower(btrim(p.name)))
      with ordinality as behind (text, place)
    where m.id = is_mentioned.message_id and behind.place > 1 and left(behind.text, 1) !~ '[[:alnum:]]');
end
$$
$default$);

call tacet.provide('profile_name(tacet.user_id)', inert => 'select null::text', definition => $default$
create or replace function tacet.profile_name(user_id tacet.user_id)
returns text
language sql stable
as $$
  select p.name from public.profiles p where p.id = profile_name.user_id
$$
$default$);

-- The host application that deploy/bench plays: people, conversations, messages. What it picks from
-- is in schema measure; the tables it fills are the host application's. Filled by a superuser, without triggers and
-- foreign keys.

create schema measure;

-- The conversations that messages are inserted into while something is measured.
create table measure.conversations (
  n int primary key,
  conversation_id uuid not null,
  sender_id uuid not null,
  reader_id uuid not null
);

-- Ids that can be computed again, and are spread as random ones are.
create function measure.id(kind text, n bigint) returns uuid
language sql immutable
as $$ select md5(kind || n)::uuid $$;

-- The k-th participant of a conversation.
create function measure.member(conversation bigint, k int, users bigint) returns uuid
language sql immutable
as $$ select measure.id('u', (conversation * 7919 + k * 104729) % users) $$;

-- The messages of the last 30 days are distributed unevenly, as they are in life: 1 were even; of a million messages in
-- 100,000 conversations, 3 gives the first one 21,000 and the middle one 5. The newest three in a hundred are unread.
create procedure measure.fill_messages(users int, conversations int, messages int, unevenness float8)
language plpgsql
as $$
begin
  insert into public.messages (id, conversation_id, from_id, text, created_at, updated_at, read_by)
  select
    measure.id('m', m.n), measure.id('c', m.c), measure.member(m.c, 0, users), repeat('Are you coming? ', 4), m.at, m.at,
    case when m.n < messages * 0.97 then array[measure.member(m.c, 1, users)] else '{}' end
  from (
    select n, 1 + floor(conversations * power(random(), unevenness))::int as c, now() - (messages - n) * interval '30 days' / messages as at
    from generate_series(1, messages) n
  ) m;
end
$$;

-- Conversations have 2 to `members` participants. Each has a device, and nobody is looking.
create procedure measure.fill_host(users int, conversations int, messages int, members int, picked int)
language plpgsql
as $$
begin
  set session_replication_role = replica;
  insert into public.profiles (id, name) select measure.id('u', n), 'Person ' || n from generate_series(0, users - 1) n;
  insert into public.conversations (id) select measure.id('c', n) from generate_series(1, conversations) n;
  insert into public.conversation_participants (conversation_id, user_id, last_seen)
  select measure.id('c', n), measure.member(n, k, users), now() - interval '1 hour' - random() * interval '30 days'
  from generate_series(1, conversations) n, generate_series(0, 1 + n % (members - 1)) k
  on conflict do nothing;
  call measure.fill_messages(users, conversations, messages, 3);
  insert into public.push_tokens (user_id, device_token)
  select measure.id('u', n), encode(sha256(convert_to('token' || n, 'UTF8')), 'hex') from generate_series(0, users - 1) n;
  -- From the middle, where conversations are of ordinary length.
  insert into measure.conversations
  select row_number() over (), measure.id('c', n), measure.member(n, 0, users), measure.member(n, 1, users)
  from generate_series(conversations / 2, conversations / 2 + picked - 1) n;
  set session_replication_role = origin;
end
$$;

-- A conversation of one sender and so many recipients, with a device each.
create function measure.make_group(recipients int)
returns table (conversation_id uuid, sender_id uuid, tokens text[])
language sql
as $$
  insert into public.profiles (id, name)
  select measure.id('member', k), 'Member ' || k from generate_series(0, recipients) k on conflict do nothing;
  insert into public.conversations (id) values (measure.id('group', recipients)) on conflict do nothing;
  insert into public.conversation_participants (conversation_id, user_id)
  select measure.id('group', recipients), measure.id('member', k) from generate_series(0, recipients) k on conflict do nothing;
  insert into public.push_tokens (user_id, device_token)
  select measure.id('member', k), encode(sha256(convert_to('member' || k, 'UTF8')), 'hex') from generate_series(1, recipients) k
  on conflict do nothing;
  select measure.id('group', recipients), measure.id('member', 0), array_agg(t.device_token)
  from generate_series(1, recipients) k join public.push_tokens t on t.user_id = measure.id('member', k);
$$;

-- The host application's tables, created only when absent, and the columns Tacet adds to them.
--
-- An app that has these tables keeps them untouched but for the added columns. An app whose tables have other names or
-- shapes replaces the functions of 0003_host_contract.sql instead; the tables made here then stay empty and may be
-- dropped.
--
-- Locks: ADD COLUMN without a volatile default takes ACCESS EXCLUSIVE for an instant and rewrites nothing. The index on
-- conversation_participants is built while writers wait; build it CONCURRENTLY beforehand, under the same name, on a
-- large table.

create table if not exists public.profiles (
  id uuid primary key default gen_random_uuid(),
  name text
);

create table if not exists public.conversations (
  created_at timestamptz not null default now(),
  id uuid primary key default gen_random_uuid()
);

create table if not exists public.conversation_participants (
  conversation_id uuid not null references public.conversations (id) on delete cascade,
  user_id uuid not null references public.profiles (id) on delete cascade,
  primary key (conversation_id, user_id)
);

create table if not exists public.messages (
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  id uuid primary key default gen_random_uuid(),
  conversation_id uuid not null references public.conversations (id) on delete cascade,
  from_id uuid not null references public.profiles (id) on delete cascade,
  text text,
  read_by uuid[] not null default '{}'
);

create table if not exists public.push_tokens (
  user_id uuid not null references public.profiles (id) on delete cascade,
  device_token text primary key,
  platform text not null default 'ios'
);

-- last_seen: the user was looking at the conversation then. left_at: the user's client said that it left; it ends the
-- presence and erases nothing.
alter table public.conversation_participants
  add column if not exists last_seen timestamptz,
  add column if not exists left_at timestamptz;

-- environment and app: which APNs host and which app the token is for; null means the service's default.
-- registered_at: when the app last handed the token over; an APNs answer about an older time must not drop it.
alter table public.push_tokens
  add column if not exists registered_at timestamptz not null default now(),
  add column if not exists invalidated_at timestamptz,
  add column if not exists environment text,
  add column if not exists app text,
  add column if not exists invalidation_reason text;

-- An index is made only where the tables have the columns: a host with its own shape chooses its own.
do $$
begin
  create index if not exists conversation_participants_last_seen_idx
    on public.conversation_participants (conversation_id, last_seen);
  create index if not exists conversation_participants_user_idx on public.conversation_participants (user_id);
  create index if not exists messages_conversation_idx on public.messages (conversation_id, created_at desc);
  create index if not exists push_tokens_user_idx on public.push_tokens (user_id) where invalidated_at is null;
exception
  when undefined_column then
    raise notice 'tacet: the host tables differ from the default; replace the functions of 0003_host_contract.sql';
end
$$;

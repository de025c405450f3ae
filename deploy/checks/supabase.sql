-- A database like a Supabase project's, for its guide: the roles, schema auth, pg_net, and a chat with row-level security.
-- Run as supabase_admin, the superuser there. postgres is none, as on Supabase.

create role postgres login createrole createdb replication bypassrls;
create role anon nologin noinherit;
create role authenticated nologin noinherit;
create role service_role nologin noinherit bypassrls;
create role authenticator login noinherit;
create role supabase_auth_admin login noinherit createrole;
grant anon, authenticated, service_role to authenticator, postgres;
alter database postgres owner to postgres;
alter schema public owner to postgres;
grant usage on schema public to anon, authenticated, service_role;
alter default privileges for role postgres in schema public grant all on tables to anon, authenticated, service_role;

create schema auth authorization supabase_auth_admin;
create table auth.users (id uuid primary key default gen_random_uuid(), email text unique);
alter table auth.users owner to supabase_auth_admin;
create function auth.uid() returns uuid language sql stable as $$
  select nullif(current_setting('request.jwt.claims', true)::jsonb ->> 'sub', '')::uuid
$$;
grant usage on schema auth to postgres, anon, authenticated, service_role;
grant all on auth.users to postgres;

create extension pg_net;
grant usage on schema net to postgres;
grant execute on all functions in schema net to postgres;

set role postgres;
create table profiles (id uuid primary key references auth.users on delete cascade, username text not null unique);
create table rooms (id uuid primary key default gen_random_uuid(), created_at timestamptz not null default now());
create table room_participants (
  profile_id uuid not null references profiles on delete cascade, room_id uuid not null references rooms on delete cascade,
  created_at timestamptz not null default now(), primary key (profile_id, room_id)
);
create table messages (
  id uuid primary key default gen_random_uuid(), profile_id uuid not null references profiles on delete cascade,
  room_id uuid not null references rooms on delete cascade, content varchar(500) not null,
  created_at timestamptz not null default now()
);
alter table profiles enable row level security; alter table rooms enable row level security;
alter table room_participants enable row level security; alter table messages enable row level security;
create policy "everyone sees names" on profiles for select to authenticated using (true);
create policy "own rows" on room_participants for select to authenticated using (profile_id = auth.uid());
create policy "participants read" on messages for select to authenticated using (
  exists (select from room_participants p where p.room_id = messages.room_id and p.profile_id = auth.uid()));
create policy "participants write" on messages for insert to authenticated with check (
  profile_id = auth.uid()
  and exists (select from room_participants p where p.room_id = messages.room_id and p.profile_id = auth.uid()));

insert into auth.users values
  ('00000000-0000-4000-8000-00000000000a', 'ann@example.com'), ('00000000-0000-4000-8000-00000000000b', 'bob@example.com');
insert into profiles values ('00000000-0000-4000-8000-00000000000a', 'ann'), ('00000000-0000-4000-8000-00000000000b', 'bob');
insert into rooms values ('00000000-0000-4000-8000-000000000001');
insert into room_participants (profile_id, room_id) select id, '00000000-0000-4000-8000-000000000001' from profiles;

-- An application whose tables have other names: what db/examples/contract.sql fits Tacet to.

create schema app;
create table app.people (id uuid primary key, nick text, zone text);
create table app.members (
  room uuid, person uuid references app.people, looked_at timestamptz, gone_at timestamptz, read_until timestamptz,
  primary key (room, person)
);
create table app.chat (
  id uuid primary key default gen_random_uuid(), room uuid not null, author uuid references app.people, body text,
  kind text not null default 'text', written_at timestamptz not null default now(), removed_at timestamptz
);
create index on app.chat (room, written_at);
create index on app.members (person);
create table app.phones (
  token text primary key, person uuid references app.people, sandbox boolean not null default false,
  refreshed_at timestamptz not null default now(), dead_since timestamptz
);
create index on app.phones (person);

-- The reader's application in the guides: a chat with tables of its own. It stands for yours.

create table people (id uuid primary key default gen_random_uuid(), name text not null);
create table rooms (id uuid primary key default gen_random_uuid(), created_at timestamptz not null default now());
create table members (
  room_id uuid not null references rooms on delete cascade,
  person_id uuid not null references people on delete cascade,
  last_read_at timestamptz,
  primary key (room_id, person_id)
);
create table posts (
  id uuid primary key default gen_random_uuid(),
  room_id uuid not null references rooms on delete cascade,
  person_id uuid not null references people on delete cascade,
  body text not null,
  created_at timestamptz not null default now()
);
create table devices (
  device_token text primary key,
  person_id uuid not null references people on delete cascade,
  created_at timestamptz not null default now()
);
insert into people values
  ('00000000-0000-4000-8000-00000000000a', 'Ann'), ('00000000-0000-4000-8000-00000000000b', 'Bob');
insert into rooms values ('00000000-0000-4000-8000-000000000001');
insert into members
select '00000000-0000-4000-8000-000000000001', id, now() - interval '1 day' from people;
insert into devices (device_token, person_id) values (repeat('00ff', 16), '00000000-0000-4000-8000-00000000000b');

-- What the demo plays: people, conversations and messages by situation, and what came of them. Everything of it is in
-- schema demo; the tables it writes are the host application's.

create schema demo;

create table demo.situations (
  name text primary key,
  conversation_id uuid not null,
  sender_id uuid not null,
  body text not null default 'Are you coming to the rehearsal tonight?'
);

create table demo.recipients (
  situation text not null references demo.situations (name),
  user_id uuid not null,
  is_viewing boolean not null,
  has_read boolean not null
);

-- The simulator's records, loaded when somebody asks what arrived.
create table demo.pushes (
  number int primary key,
  arrived_us bigint not null,
  token text not null,
  collapse_id text not null,
  answered_us bigint,
  status int not null,
  payload text not null
);

-- A device token is the hash of its owner and number: 64 hexadecimal digits, as Apple's are.
create function demo.token(owner uuid, number int) returns text
language sql stable
as $$ select encode(sha256(convert_to(owner::text || number, 'UTF8')), 'hex') $$;

-- Somebody with devices, whose app has told the time zone if there is one.
create function demo.add_person(person text, devices int default 1, zone text default null) returns uuid
language sql
as $$
  with profile as (
    insert into public.profiles (name) values (person) returning id
  ), device as (
    insert into public.push_tokens (user_id, device_token, time_zone)
    select profile.id, demo.token(profile.id, n), zone from profile, generate_series(1, devices) n
  )
  select id from profile
$$;

-- Of those whose name nobody shares.
create function demo.person(person text) returns uuid
language sql stable
as $$ select id from public.profiles where name = person $$;

create function demo.add_situation(name text, body text default null) returns void
language sql
as $$
  with sender as (
    insert into public.profiles (name) values ('Clara') returning id
  ), conversation as (
    insert into public.conversations default values returning id
  ), participant as (
    insert into public.conversation_participants (conversation_id, user_id)
    select conversation.id, sender.id from conversation, sender
  )
  insert into demo.situations (name, conversation_id, sender_id)
  select add_situation.name, conversation.id, sender.id from conversation, sender;
  update demo.situations s set body = add_situation.body where s.name = add_situation.name and add_situation.body <> '';
$$;

create function demo.add_recipient(
  situation text, person text, devices int, is_viewing boolean default false, has_read boolean default false
) returns void
language sql
as $$
  with profile as materialized (
    select demo.add_person(person, devices) as id
  ), participant as (
    insert into public.conversation_participants (conversation_id, user_id)
    select s.conversation_id, profile.id from demo.situations s, profile where s.name = situation
  )
  insert into demo.recipients (situation, user_id, is_viewing, has_read)
  select add_recipient.situation, profile.id, add_recipient.is_viewing, add_recipient.has_read from profile;
$$;

-- What the app does: reports who is looking, then inserts the message. A reader of the message is in read_by at once,
-- as happens when a message arrives by two ways.
create function demo.insert_message(situation text) returns uuid
language sql
as $$
  update public.conversation_participants c
  set last_seen = now() - case when r.is_viewing then interval '5 seconds' else interval '10 minutes' end
  from demo.recipients r, demo.situations s
  where r.situation = insert_message.situation and s.name = r.situation
    and c.conversation_id = s.conversation_id and c.user_id = r.user_id;
  insert into public.messages (conversation_id, from_id, text, read_by)
  select
    s.conversation_id, s.sender_id, s.body,
    array(select r.user_id from demo.recipients r where r.situation = s.name and r.has_read)
  from demo.situations s
  where s.name = insert_message.situation
  returning id;
$$;

-- Waits until the ledger has a row for each recipient of the message. With its owner's rights, as the host's role may
-- not read the ledger. The procedure's own snapshot is the statement's,
-- so each look sees what was committed meanwhile; five milliseconds between two looks leave the machine to the service.
create procedure demo.await_outcome(message_id uuid, seconds_max int default 10)
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  expected bigint;
  deadline timestamptz := clock_timestamp() + seconds_max * interval '1 second';
begin
  select count(*) into strict expected
  from public.messages m
  join public.conversation_participants c on c.conversation_id = m.conversation_id and c.user_id <> m.from_id
  where m.id = message_id;
  while (select count(*) from tacet.push_log l where l.subject_id = message_id) < expected loop
    if clock_timestamp() > deadline then
      raise exception 'message % has no outcome after % s', message_id, seconds_max;
    end if;
    perform pg_sleep(0.005);
  end loop;
end
$$;

-- The webhook that a Supabase project sends for an inserted row.
create function demo.webhook_body(message_id uuid) returns json
language sql stable
as $$
  select json_build_object(
    'type', 'INSERT', 'table', 'messages', 'schema', 'public', 'record', to_json(m), 'old_record', null)
  from public.messages m
  where m.id = message_id
$$;

-- What the simulator has accepted for whom. Isolates of directions show as < and >.
create view demo.arrived as
select
  r.name, t.user_id, a.number, a.token, a.collapse_id, a.arrived_us, a.answered_us, p.payload, p.payload ->> 'type' as type,
  translate(p.payload #>> '{aps,alert,title}', u&'\2068\2069', '<>') as title, p.payload #>> '{aps,alert,subtitle}' as subtitle,
  p.payload #>> '{aps,alert,body}' as body, p.payload #>> '{aps,category}' as category,
  p.payload #> '{aps,sound}' is not null as sounds, coalesce(p.payload #>> '{aps,interruption-level}', 'active') as level
from demo.pushes a
join public.push_tokens t on t.device_token = a.token
join public.profiles r on r.id = t.user_id
cross join lateral (select a.payload::jsonb) p (payload)
where a.status = 200;

create function demo.milliseconds(span interval) returns numeric
language sql immutable
as $$ select round(extract(epoch from span) * 1000, 2) $$;

-- One row for each message and recipient; times in milliseconds after the message's commit.
--
-- woken: the service's claim reached the database (claimed_at). accepted: the simulator had read the last device's push.
-- decided: the service measures on its own clock, from the moment it had the claim's answer; the simulator's first answer
-- ties that to the database's clock, and without one the claim's own round trip (woken_microseconds), which is a little
-- more than it took from claimed_at on.
create view demo.timeline as
select
  m.id as message_id, s.name as situation, p.name as recipient, l.decision, l.reason, l.devices_accepted, l.woken_by,
  demo.milliseconds(l.claimed_at - commit.at) as woken,
  demo.milliseconds(
    greatest(l.claimed_at, coalesce(
      arrived.first_answer - (l.accepted_microseconds - l.decided_microseconds) * interval '1 microsecond',
      l.claimed_at + (l.woken_microseconds + l.decided_microseconds) * interval '1 microsecond'
    )) - commit.at) as decided,
  demo.milliseconds(arrived.last_at - commit.at) as accepted,
  arrived.pushes
from public.messages m
join demo.situations s on s.conversation_id = m.conversation_id
join tacet.push_log l on l.subject_id = m.id
join public.profiles p on p.id = l.user_id
cross join lateral (select pg_xact_commit_timestamp(m.xmin) as at) commit
cross join lateral (
  select
    count(*) as pushes,
    timestamptz 'epoch' + min(a.answered_us) * interval '1 microsecond' as first_answer,
    timestamptz 'epoch' + max(a.arrived_us) * interval '1 microsecond' as last_at
  from demo.arrived a
  where a.collapse_id = m.id::text and a.user_id = l.user_id
) arrived;

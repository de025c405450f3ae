-- The books of deploy/bench upgrade: what the host inserted, what the simulator accepted, what the ledger says.

-- When each part began.
create table measure.parts (
  part int generated always as identity primary key,
  began timestamptz not null default clock_timestamp(),
  name text not null
);

-- The simulator's record. A push's payload names its message.
create table measure.pushes (
  number int primary key,
  arrived timestamptz,
  message_id uuid,
  token text,
  environment text,
  collapse_id text,
  apns_id text,
  status int
);

-- Rows of the ledger, and of what was parked, as they were under the older program.
create table measure.history (entry jsonb);
create table measure.parked (message_id uuid primary key, is_replayed boolean not null default false);

-- Which conversation gets the next message.
create sequence measure.turn;
grant usage on sequence measure.turn to app;

-- Each fifth reader has a second device, on the route that goes down.
create procedure measure.add_second_devices()
language sql
as $$
  insert into public.push_tokens (user_id, device_token, environment)
  select distinct c.reader_id, encode(sha256(convert_to('second' || c.reader_id, 'UTF8')), 'hex'), 'sandbox'
  from measure.conversations c where c.n % 5 = 0
$$;

-- Finished rows of a week. Their messages are those that measure.fill_host has made.
create procedure measure.fill_history(finished int, users int)
language plpgsql
as $$
begin
  insert into public.push_log (
    subject_id, user_id, push_type, decision, reason, enqueued_at, claimed_at, sent_at, woken_microseconds, decided_microseconds,
    devices_accepted, woken_by
  )
  select
    measure.id('m', n), measure.id('u', n % users), 'message',
    case when n % 2 = 0 then 'sent' else 'skipped' end, case when n % 2 = 1 then 'no_tokens' end,
    f.at, f.at, case when n % 2 = 0 then f.at end, 700, 20, case when n % 2 = 0 then 1 else 0 end, 'notify'
  from (select n, now() - (finished - n) * interval '7 days' / finished as at from generate_series(1, finished) n) f;
  insert into measure.history select to_jsonb(l) from public.push_log l;
end
$$;

-- Rows of the history that are gone or have another value in any column that they had.
create function measure.changed_history() returns bigint
language sql stable
as $$
  select count(*)
  from measure.history h
  where not exists (select from public.push_log l where l.id = (h.entry ->> 'id')::uuid and to_jsonb(l) @> h.entry)
$$;

create procedure measure.note_pushes(answer jsonb)
language sql
as $$
  insert into measure.pushes
  select
    p.number, timestamptz 'epoch' + p.arrived_us * interval '1 microsecond', (p.payload::jsonb ->> 'message_id')::uuid, p.token,
    p.environment, p.collapse_id, p.apns_id, p.status
  from jsonb_to_recordset(answer -> 'pushes') as p (
    number int, arrived_us bigint, payload text, token text, environment text, collapse_id text, apns_id text, status int)
$$;

-- A message to each of these conversations whose work looks as if its leases had run out six times, so that the service parks
-- it. as_hold: the recipient looks, and the hold is parked; otherwise the event.
create procedure measure.insert_parked(lowest int, highest int, as_hold boolean)
language plpgsql
as $$
declare
  c measure.conversations;
  message uuid;
begin
  for c in select * from measure.conversations m where m.n between lowest and highest loop
    update public.conversation_participants p
    set last_seen = case when as_hold then now() else now() - interval '1 hour' end
    where p.conversation_id = c.conversation_id and p.user_id = c.reader_id;
    insert into public.messages (conversation_id, from_id, text) values (c.conversation_id, c.sender_id, 'Parked') returning id
    into message;
    insert into measure.parked values (message);
    if as_hold then
      commit;
      for tries in 1 .. 100 loop
        update tacet.deliveries d set rescues = 6, due_at = now()
        where d.subject_id = message and d.state = 'held' and not d.is_claimed;
        exit when found;
        commit;
        perform pg_sleep(0.02);
      end loop;
    else
      update tacet.inbox i set is_claimed = true, rescues = 6, available_at = now() where i.subject_id = message;
    end if;
    commit;
  end loop;
end
$$;

-- Replays so many of those that wait longest. Returns how many rows came back.
create function measure.replay(most int) returns bigint
language sql volatile
as $$
  with chosen as (
    update measure.parked m set is_replayed = true
    where m.message_id in (
      select p.message_id from measure.parked p join tacet.parked t on t.subject_id = p.message_id
      where not p.is_replayed order by t.parked_at limit most)
    returning m.message_id
  )
  select coalesce(sum(tacet.replay(c.message_id)), 0) from chosen c
$$;

-- A row for each message and device: what the simulator has of it.
create view measure.deliveries as
select
  m.id as message_id, t.device_token, t.environment,
  count(*) filter (where p.status = 200) as accepted,
  count(distinct p.collapse_id) as collapse_ids,
  count(distinct p.apns_id) filter (where p.status = 200) as apns_ids,
  min(p.arrived) filter (where p.status = 200) as arrived
from public.messages m
join measure.conversations c on c.conversation_id = m.conversation_id
join public.push_tokens t on t.user_id = c.reader_id
left join measure.pushes p on p.message_id = m.id and p.token = t.device_token
where m.created_at >= (select min(began) from measure.parts)
group by 1, 2, 3;

-- The books: a row for each part, by when the message was inserted. The reader of a message that was read has seen it in the
-- application, so it needs no push, and a push after that would be one too many.
create view measure.books as
with messages as (
  select
    m.id, m.created_at, c.reader_id = any (m.read_by) as is_read,
    (select max(p.part) from measure.parts p where p.began <= m.created_at) as part
  from public.messages m
  join measure.conversations c on c.conversation_id = m.conversation_id
  where m.created_at >= (select min(began) from measure.parts)
), outcomes as (
  select
    l.subject_id, count(*) as outcomes, count(*) filter (where l.decision = 'sent') as sent,
    count(*) filter (where l.decision = 'skipped') as skipped
  from public.push_log l
  where l.subject_id in (select m.id from messages m)
  group by 1
), devices as (
  select
    d.message_id, count(*) as devices, count(*) filter (where d.accepted > 0) as reached,
    count(*) filter (where d.accepted > 1) as again, count(*) filter (where d.apns_ids > 1 or d.collapse_ids > 1) as other,
    bool_or(d.environment is null and d.arrived > m.created_at + interval '1.5 s') as was_held,
    max(d.arrived) filter (where d.environment = 'sandbox') > min(d.arrived) filter (where d.environment is null) + interval '1 s'
      as has_waited
  from measure.deliveries d
  join messages m on m.id = d.message_id
  group by 1
)
select
  m.part,
  count(*) as messages,
  count(*) filter (where d.was_held) as held,
  count(*) filter (where d.has_waited) as waited,
  count(*) filter (where m.is_read) as read,
  coalesce(sum(d.devices) filter (where not m.is_read), 0) as due,
  coalesce(sum(d.reached), 0) as accepted,
  coalesce(sum(d.devices - d.reached) filter (where not m.is_read), 0) as lost,
  coalesce(sum(d.reached) filter (where m.is_read), 0) as needless,
  coalesce(sum(d.again), 0) as again,
  coalesce(sum(d.other), 0) as shown_twice,
  count(*) filter (where o.outcomes is distinct from 1 or o.sent + o.skipped <> 1) as without_one_outcome,
  count(*) filter (where o.sent is distinct from (not m.is_read)::int) as of_other_outcome
from messages m
left join outcomes o on o.subject_id = m.id
left join devices d on d.message_id = m.id
group by m.part;

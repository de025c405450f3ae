-- The simulator's record beside messages and ledger, for deploy/bench versions.

create table measure.pushes (number int primary key, arrived timestamptz, apns_id text, collapse_id text, status int);

-- Which conversation gets the next message.
create sequence measure.turn;
grant usage on sequence measure.turn to app;

-- Takes the simulator's answer to GET /pushes.
create procedure measure.note_pushes(answer jsonb)
language sql
as $$
  insert into measure.pushes
  select p.number, timestamptz 'epoch' + p.arrived_us * interval '1 microsecond', p.apns_id, p.collapse_id, p.status
  from jsonb_to_recordset(answer -> 'pushes')
    as p (number int, arrived_us bigint, apns_id text, collapse_id text, status int)
$$;

-- Of the messages since then: how many there are, were held, and were refused at first by APNs; how many no push was accepted
-- for; pushes accepted again; messages with pushes of two apns-ids; messages without exactly one row of the ledger that says sent.
-- A message's id is its pushes' collapse-id.
create function measure.outcomes(
  since timestamptz, out messages bigint, out held bigint, out refused bigint, out lost bigint, out again numeric,
  out other bigint, out unsent bigint)
language sql stable
as $$
  select count(*), count(*) filter (where p.arrived > m.created_at + interval '1.5 s'), count(*) filter (where p.refused > 0),
    count(*) filter (where coalesce(p.accepted, 0) = 0), coalesce(sum(p.accepted - 1) filter (where p.accepted > 1), 0),
    count(*) filter (where p.ids > 1), count(*) filter (where l.sent is distinct from 1)
  from public.messages m
  left join (
    select collapse_id, min(arrived) as arrived, count(distinct apns_id) as ids,
      count(*) filter (where status = 200) as accepted, count(*) filter (where status <> 200) as refused
    from measure.pushes group by collapse_id
  ) p on p.collapse_id = m.id::text
  left join (
    select subject_id::text as id, count(*) as sent from public.push_log where decision = 'sent' group by subject_id
  ) l on l.id = m.id::text
  where m.created_at >= since
$$;

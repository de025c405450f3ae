-- The history of deploy/bench's databases, on top of measure.sql. Everything is loaded first and indexed after, in one
-- transaction with the truncation of the table: with wal_level=minimal nothing of it goes through the WAL.

-- What a table's indexes are made with again, in the order of their names.
create table measure.indexes (
  target regclass not null,
  name text not null,
  definition text not null
);

create procedure measure.drop_indexes(of_table regclass)
language plpgsql
as $$
declare
  i record;
begin
  insert into measure.indexes
  select of_table, c.conname, format('alter table %s add constraint %I %s', of_table, c.conname, pg_get_constraintdef(c.oid))
  from pg_constraint c where c.conrelid = of_table and c.contype in ('p', 'u')
  union all
  select of_table, x.indexrelid::regclass::text, pg_get_indexdef(x.indexrelid)
  from pg_index x
  where x.indrelid = of_table
    and not exists (select from pg_constraint c where c.conindid = x.indexrelid and c.contype in ('p', 'u'));
  for i in select conname from pg_constraint where conrelid = of_table and contype in ('p', 'u') loop
    execute format('alter table %s drop constraint %I', of_table, i.conname);
  end loop;
  for i in select indexrelid::regclass as name from pg_index where indrelid = of_table loop
    execute format('drop index %s', i.name);
  end loop;
end
$$;

create procedure measure.make_indexes(of_table regclass)
language plpgsql
as $$
declare
  i record;
begin
  for i in select name, definition from measure.indexes where target = of_table order by name loop
    raise notice 'index %', i.name;
    execute i.definition;
  end loop;
  delete from measure.indexes where target = of_table;
end
$$;

-- Messages in place of those that are there. Less uneven than fill_host's: of ten million in 100,000 conversations, the
-- first one has 4,600 and the middle one 85.
create procedure measure.load_messages(users int, conversations int, messages int)
language plpgsql
as $$
begin
  raise notice '% messages', messages;
  truncate public.messages;
  call measure.drop_indexes('public.messages');
  set session_replication_role = replica;
  call measure.fill_messages(users, conversations, messages, 1.5);
  set session_replication_role = origin;
  call measure.make_indexes('public.messages');
end
$$;

-- Picks other conversations than fill_host has: a person is also in the conversation that is `users` further, which shall
-- be of ordinary length as well.
create procedure measure.pick_conversations(users int, conversations int, picked int)
language sql
as $$
  truncate measure.conversations;
  insert into measure.conversations
  select row_number() over (), measure.id('c', n), measure.member(n, 0, users), measure.member(n, 1, users)
  from generate_series(conversations * 3 / 4, conversations * 3 / 4 + picked - 1) n;
$$;

-- A finished row for each of the messages, as large as the service leaves them: nine in ten sent, the others skipped
-- because they had been read. Of the last 13 days, because the pruner takes what is older than 14.
create procedure measure.load_ledger(finished int, users int)
language plpgsql
as $$
begin
  raise notice '% rows of the ledger', finished;
  truncate tacet.push_log;
  call measure.drop_indexes('tacet.push_log');
  with claimed as (
    select '[{
      "at": 1795329431439817, "by": "338ca8ba", "claim": 1, "woken_by": "notify", "woken_us": 700, "decided_us": 20,
      "known": {"ttl_us": 3600000000, "devices": 1, "window_us": 60000000, "message_us": 1148}, "decision": "sent",
      "attempts": [{
        "route": "com.example.app/production", "device": "00a2e658", "status": 200, "verdict": "accepted", "ended_us": 600,
        "apns_id": "6c2a3203-3250-57be-8fac-122c3e8d333b"
      }]
    }]'::jsonb as history
  )
  insert into tacet.push_log (
    subject_id, user_id, push_type, decision, reason, enqueued_at, claimed_at, sent_at, woken_microseconds,
    decided_microseconds, accepted_microseconds, devices_accepted, woken_by, history
  )
  select
    measure.id('m', n), measure.id('u', n % users), 'message', case when f.is_sent then 'sent' else 'skipped' end,
    case when not f.is_sent then 'already_read' end, f.at, f.at, case when f.is_sent then f.at end, 700, 20,
    case when f.is_sent then 600 end, f.is_sent::int, 'notify', claimed.history
  from (
    select n, n % 10 <> 0 as is_sent, now() - (finished - n) * interval '13 days' / finished as at
    from generate_series(1, finished) n
  ) f, claimed;
  call measure.make_indexes('tacet.push_log');
end
$$;

-- Holds that end as soon as something is learnt, claims that can be told from waits, and work that is set aside.
--
-- Locks: ACCESS EXCLUSIVE for an instant on tables of schema tacet, which are small; SHARE ROW EXCLUSIVE for an instant
-- on messages and conversation_participants. Stop services of an older version before: what they record knows nothing
-- of the new states.

-- conversation_id: whose turn it is when there is more than one claim can take. is_claimed: available_at is the end of a
-- lease. rescues: how often a lease ran out without a record. error: why it could not be looked at.
alter table tacet.inbox
  add column if not exists conversation_id uuid,
  add column if not exists rescues int not null default 0,
  add column if not exists is_claimed boolean not null default false,
  add column if not exists error text;

drop index if exists tacet.inbox_available_idx;
create index if not exists inbox_fresh_idx on tacet.inbox (available_at) where not is_claimed;
create index if not exists inbox_claimed_idx on tacet.inbox (available_at) where is_claimed;

-- since: when the present state was decided. held_us: microseconds held on purpose before that. lane: the push service
-- that a waiting row waits for. is_claimed, rescues, error: as above, with due_at.
alter table tacet.deliveries
  add column if not exists since timestamptz not null default now(),
  add column if not exists held_us bigint not null default 0,
  add column if not exists conversation_id uuid,
  add column if not exists rescues int not null default 0,
  add column if not exists is_claimed boolean not null default false,
  add column if not exists lane text,
  add column if not exists error text;

-- held: the rules wait for more to be learnt. retryable: one push was put off. waiting: its lane takes nothing now; it
-- goes when the lane is back, the newest first.
alter table tacet.deliveries drop constraint if exists deliveries_state_check;
alter table tacet.deliveries add constraint deliveries_state_check check (
  state in ('held', 'retryable', 'waiting') and (lane is not null) = (state = 'waiting')
);

drop index if exists tacet.deliveries_due_idx;
create index if not exists deliveries_due_idx on tacet.deliveries (due_at) where state <> 'waiting';
create index if not exists deliveries_waiting_idx on tacet.deliveries (lane, enqueued_at) where state = 'waiting';
create index if not exists deliveries_suspect_idx on tacet.deliveries (due_at) where rescues > 1;
create index if not exists deliveries_held_idx on tacet.deliveries (user_id, conversation_id) where state = 'held';

-- What can never succeed, set aside with its reason until somebody has mended it and calls tacet.replay.
-- user_id: null for an event that could not even be looked at.
create table if not exists tacet.parked (
  parked_at timestamptz not null default clock_timestamp(),
  enqueued_at timestamptz not null,
  attempts int not null,
  subject_id uuid not null,
  user_id uuid,
  conversation_id uuid,
  held_us bigint not null default 0,
  kind text not null,
  reason text not null,
  accepted_devices text[] not null default '{}'
);

create index if not exists parked_subject_idx on tacet.parked (subject_id);

-- subject_ids: events whose inbox rows could not be written; the service enqueues them as soon as it can.
alter table tacet.trigger_failures add column if not exists subject_ids uuid[] not null default '{}';

create index if not exists trigger_failures_missed_idx on tacet.trigger_failures (failed_at) where subject_ids <> '{}';

-- Puts parked work of a subject back, as if it had just been found. What is too old by now is recorded as expired.
-- Returns the number of rows put back.
create or replace function tacet.replay(subject_id uuid)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  replayed bigint;
begin
  with parked as (
    delete from tacet.parked p where p.subject_id = replay.subject_id returning p.*
  ), events as (
    insert into tacet.inbox (subject_id, kind, conversation_id, enqueued_at)
    select p.subject_id, p.kind, p.conversation_id, p.enqueued_at from parked p where p.user_id is null
    on conflict do nothing
  ), deliveries as (
    insert into tacet.deliveries (
      subject_id, user_id, kind, conversation_id, due_at, enqueued_at, attempts, held_us, state, accepted_devices
    )
    select
      p.subject_id, p.user_id, p.kind, p.conversation_id, now(), p.enqueued_at, p.attempts, p.held_us, 'retryable',
      p.accepted_devices
    from parked p
    where p.user_id is not null
    on conflict do nothing
  ), reopened as (
    update public.push_log l
    set decision = 'held', reason = 'replayed', held_until = now()
    from parked p
    where l.subject_id = p.subject_id and l.user_id = p.user_id and l.push_type = p.kind
      and l.decision = 'failed' and l.reason = 'parked'
  )
  select count(*) into replayed from parked;
  perform tacet.wake(null);
  return replayed;
end
$$;

-- Counts an error that must not reach the host, with the events that it kept from the inbox, as far as their ids are
-- uuids; when even that is impossible, a warning is all that can be done.
drop function if exists tacet.count_trigger_failure(text, text);

create or replace function tacet.count_trigger_failure(
  failed_state text, failed_message text, failed_subject_ids text[] default '{}'
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into tacet.trigger_failures (sqlstate, message, subject_ids)
  values (
    failed_state, failed_message,
    array(select f.id::uuid from unnest(failed_subject_ids) as f (id) where f.id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){4}[0-9a-f]{8}$')
  );
exception
  when query_canceled or others then
    raise warning 'tacet: % (%)', failed_message, failed_state;
end
$$;

-- Makes held pushes due now: something was learnt about them. Pairs of a subject and a user, in arrays of one length.
--
-- Rows that are being claimed or recorded are left alone rather than waited for: the host's transaction comes first,
-- and the service looks once more at every hold soon after it has recorded it.
create or replace function tacet.release_holds(subject_ids uuid[], user_ids uuid[])
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  update tacet.deliveries d
  set due_at = clock_timestamp()
  from (
    select h.subject_id, h.user_id, h.kind
    from unnest(release_holds.subject_ids, release_holds.user_ids) as r (subject_id, user_id)
    join tacet.deliveries h on h.subject_id = r.subject_id and h.user_id = r.user_id
    where h.state = 'held' and not h.is_claimed and h.due_at > clock_timestamp()
    for update of h skip locked
  ) held
  where d.subject_id = held.subject_id and d.user_id = held.user_id and d.kind = held.kind;
  if found then
    perform tacet.wake(null);
  end if;
end
$$;

-- The same for everything a user is held in one conversation: for hosts that keep presence in tables of their own.
create or replace function tacet.release_conversation(conversation_id uuid, user_id uuid)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select tacet.release_holds(array_agg(d.subject_id), array_agg(d.user_id))
  from tacet.deliveries d
  where d.user_id = release_conversation.user_id and d.conversation_id = release_conversation.conversation_id
    and d.state = 'held'
  having count(*) > 0
$$;

-- Finds the holds that a statement of the host concerns, and releases them. The argument says what it did: read, deleted,
-- seen or left.
--
-- Like the trigger on inserts it never fails the host's statement, runs with its owner's rights, and fires once per
-- statement. Without sequential scans, because a plan that was made while nothing was held would be kept when much
-- waits. Each statement is planned when it is first run, so that its transition tables need to be there for it alone.
create or replace function tacet.release_concerned()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
set enable_seqscan = off
set jit = off
as $$
declare
  subjects uuid[];
  users uuid[];
begin
  case tg_argv[0]
    when 'read' then
      select array_agg(d.subject_id), array_agg(d.user_id) into subjects, users
      from changed n
      join previous o on o.id = n.id
      join tacet.deliveries d on d.subject_id = n.id
      where d.state = 'held' and d.user_id = any (n.read_by) and not coalesce(d.user_id = any (o.read_by), false);
    when 'deleted' then
      select array_agg(d.subject_id), array_agg(d.user_id) into subjects, users
      from previous o
      join tacet.deliveries d on d.subject_id = o.id
      where d.state = 'held';
    when 'seen' then
      select array_agg(d.subject_id), array_agg(d.user_id) into subjects, users
      from changed n
      join previous o on o.conversation_id = n.conversation_id and o.user_id = n.user_id
      join tacet.deliveries d on d.user_id = n.user_id and d.conversation_id = n.conversation_id
      where d.state = 'held' and (n.last_seen, n.left_at) is distinct from (o.last_seen, o.left_at);
    when 'left' then
      select array_agg(d.subject_id), array_agg(d.user_id) into subjects, users
      from previous o
      join tacet.deliveries d on d.user_id = o.user_id and d.conversation_id = o.conversation_id
      where d.state = 'held';
  end case;
  if subjects is not null then
    perform tacet.release_holds(subjects, users);
  end if;
  return null;
exception
  when query_canceled or others then
    perform tacet.count_trigger_failure(sqlstate, sqlerrm);
    return null;
end
$$;

-- Triggers where the tables have the columns; a host with other tables makes its own.
do $$
declare
  message_columns int := (
    select count(*) from pg_attribute
    where attrelid = to_regclass('public.messages') and not attisdropped and atttypid in ('uuid'::regtype, 'uuid[]'::regtype)
      and attname in ('id', 'conversation_id', 'read_by'));
  participant_columns int := (
    select count(*) from pg_attribute
    where attrelid = to_regclass('public.conversation_participants') and not attisdropped
      and attname in ('conversation_id', 'user_id', 'last_seen', 'left_at'));
begin
  if message_columns = 3 then
    create or replace trigger tacet_message_inserted
    after insert on public.messages
    referencing new table as inserted
    for each statement execute function tacet.enqueue_inserted_messages('conversation_id');

    create or replace trigger tacet_message_read
    after update on public.messages
    referencing old table as previous new table as changed
    for each statement execute function tacet.release_concerned('read');

    create or replace trigger tacet_message_deleted
    after delete on public.messages
    referencing old table as previous
    for each statement execute function tacet.release_concerned('deleted');
  end if;
  if participant_columns = 4 then
    create or replace trigger tacet_conversation_seen
    after update on public.conversation_participants
    referencing old table as previous new table as changed
    for each statement execute function tacet.release_concerned('seen');

    create or replace trigger tacet_conversation_left
    after delete on public.conversation_participants
    referencing old table as previous
    for each statement execute function tacet.release_concerned('left');
  end if;
  if message_columns < 3 or participant_columns < 4 then
    raise notice 'tacet: the host tables differ from the default; call tacet.release_holds from triggers of your own';
  end if;
end
$$;

revoke all on all functions in schema tacet from public;

insert into tacet.migrations (version, name) values (5, '0005_holds') on conflict do nothing;

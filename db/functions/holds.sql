-- Held pushes that end early, and parked work.

-- Makes held pushes due now: subjects, users and causes, in arrays of one length. The causes are read, seen, left, removed,
-- deleted, preferences, review and host; the last for a trigger of the host.
--
-- It skips rows that are being claimed or recorded, because the host's transaction comes first; the service examines every
-- hold again soon after recording it.
--
-- Under REPEATABLE READ and SERIALIZABLE a transaction cannot change a hold that is newer than its snapshot. The release is
-- then queued, and the service makes it after the commit.
create or replace function tacet.release_holds(subject_ids tacet.subject_id[], user_ids tacet.user_id[], causes text[])
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  update tacet.deliveries d
  set due_at = clock_timestamp(), released_at = clock_timestamp(), released_by = held.cause
  from (
    select h.subject_id, h.user_id, h.kind, r.cause
    from unnest(release_holds.subject_ids, release_holds.user_ids, release_holds.causes)
      as r (subject_id, user_id, cause)
    join tacet.deliveries h on h.subject_id = r.subject_id and h.user_id = r.user_id
    where h.state = 'held' and not h.is_claimed and h.due_at > clock_timestamp()
    for update of h skip locked
  ) held
  where d.subject_id = held.subject_id and d.user_id = held.user_id and d.kind = held.kind;
  if found then
    perform tacet.wake(null);
  end if;
exception
  when serialization_failure then
    insert into tacet.releases (subject_id, user_id, cause)
    select r.subject_id, r.user_id, r.cause
    from unnest(release_holds.subject_ids, release_holds.user_ids, release_holds.causes)
      as r (subject_id, user_id, cause);
    -- Also when the service is awake: its polls of the queue do not read tacet.releases.
    perform pg_notify('tacet', 'release')
    from tacet.settings s
    where s.notify_enabled and s.listening_until > clock_timestamp();
end
$$;

-- The same for triggers of the host.
create or replace function tacet.release_holds(subject_ids tacet.subject_id[], user_ids tacet.user_id[])
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select tacet.release_holds(
    release_holds.subject_ids, release_holds.user_ids,
    array_fill('host'::text, array[coalesce(cardinality(release_holds.subject_ids), 0)]))
$$;

-- Releases everything that a user is held in one conversation, for hosts that keep presence in other tables.
create or replace function tacet.release_conversation(conversation_id tacet.conversation_id, user_id tacet.user_id)
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

-- Releases everything that is held of one message, because the host has deleted it softly, and takes it off the screens.
create or replace function tacet.release_message(message_id tacet.message_id)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select tacet.release_holds(array_agg(d.subject_id), array_agg(d.user_id), array_agg('deleted'::text))
  from tacet.deliveries d
  where d.subject_id = release_message.message_id::tacet.subject_id and d.state = 'held'
  having count(*) > 0;
  select tacet.clear_messages(array[release_message.message_id], array[null::tacet.conversation_id])
$$;

-- Releases everything that a user is held, because the user's preferences changed. For hosts with their own preferences too.
create or replace function tacet.release_user(user_id tacet.user_id)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select tacet.release_holds(array_agg(d.subject_id), array_agg(d.user_id), array_agg('preferences'::text))
  from tacet.deliveries d
  where d.user_id = release_user.user_id and d.state = 'held'
  having count(*) > 0
$$;

-- The triggers on messages and participants: releases the holds that a statement concerns. The argument is what the statement
-- did: read, deleted, seen or left. The cause tells left, which a client reports, from removed, for a participant whose row is
-- gone. Also drops the marks of users for whom a message became unread. With the second argument deleted_at, messages whose
-- column of that name was null and is set are deleted ones. Of the messages that a statement deletes, the newest thousand of the
-- last seven days are taken off the screens.
--
-- It never fails the host's statement, runs with its owner's rights and fires once for each statement. Each statement in it is
-- planned when first run, so only its own transition tables must exist. Sequential scans are off, because a plan made while
-- nothing was held would be kept when much waits.
--
-- The marks of what is read are dated in UTC, also where messages are dated without a time zone.
--
-- A large statement costs no more than many small ones: changes are found set against set, and each look at the deliveries is
-- one index look-up, which `offset 0` keeps in place. A join of old and new rows would be planned for few rows, and compare
-- each with each.
call tacet.define($definition$
create or replace function tacet.release_concerned()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
set enable_seqscan = off
set jit = off
set timezone = 'UTC'
as $$
declare
  subjects tacet.subject_id[];
  users tacet.user_id[];
  causes text[];
  gone tacet.message_id[];
  places tacet.conversation_id[];
begin
  if tg_argv[1] = 'deleted_at' then
    select array_agg(d.subject_id), array_agg(d.user_id) into subjects, users
    from (
      select n.id from changed n where n.deleted_at is not null
      except
      select o.id from previous o where o.deleted_at is not null
    ) news
    cross join lateral (
      select d.subject_id, d.user_id
      from tacet.deliveries d
      where d.subject_id = news.id::tacet.subject_id and d.state = 'held'
      offset 0
    ) d;
    if subjects is not null then
      perform tacet.release_holds(subjects, users, array_fill('deleted'::text, array[cardinality(subjects)]));
    end if;
    select array_agg(g.id), array_agg(g.conversation_id) into gone, places
    from (
      select n.id, n.conversation_id
      from changed n
      where n.deleted_at is not null
        and n.created_at > now() - interval '7 days' -- if messages.created_at
        and n.id not in (select o.id from previous o where o.deleted_at is not null)
      order by n.created_at desc -- if messages.created_at
      limit 1000
    ) g;
  end if;
  case tg_argv[0]
    when 'read' then
      select array_agg(d.subject_id), array_agg(d.user_id) into subjects, users
      from (
        select n.id, r.user_id from changed n cross join unnest(n.read_by) as r (user_id)
        except
        select o.id, r.user_id from previous o cross join unnest(o.read_by) as r (user_id)
      ) news
      cross join lateral (
        select d.subject_id, d.user_id
        from tacet.deliveries d
        where d.subject_id = news.id::tacet.subject_id and d.user_id = news.user_id and d.state = 'held'
        offset 0
      ) d;
    when 'deleted' then
      select array_agg(d.subject_id), array_agg(d.user_id) into subjects, users
      from previous o
      cross join lateral (
        select d.subject_id, d.user_id
        from tacet.deliveries d
        where d.subject_id = o.id::tacet.subject_id and d.state = 'held'
        offset 0
      ) d;
      select array_agg(g.id), array_agg(g.conversation_id) into gone, places
      from (
        select o.id, o.conversation_id
        from previous o
        where o.created_at > now() - interval '7 days' -- if messages.created_at
        order by o.created_at desc -- if messages.created_at
        limit 1000
      ) g;
    when 'seen' then
      with left_now as (
        select n.conversation_id, n.user_id, n.tacet_left_at from changed n where n.tacet_left_at is not null
        except
        select o.conversation_id, o.user_id, o.tacet_left_at from previous o
      )
      select
        array_agg(d.subject_id), array_agg(d.user_id),
        array_agg(
          case
            when ((news.conversation_id, news.user_id) in (select l.conversation_id, l.user_id from left_now l)) is true
              then 'left'
            else 'seen'
          end)
      into subjects, users, causes
      from (
        select n.conversation_id, n.user_id, n.last_seen, n.tacet_left_at from changed n
        except
        select o.conversation_id, o.user_id, o.last_seen, o.tacet_left_at from previous o
      ) news
      cross join lateral (
        select d.subject_id, d.user_id
        from tacet.deliveries d
        where d.user_id = news.user_id and d.conversation_id = news.conversation_id and d.state = 'held'
        offset 0
      ) d;
    when 'left' then
      select array_agg(d.subject_id), array_agg(d.user_id) into subjects, users
      from previous o
      cross join lateral (
        select d.subject_id, d.user_id
        from tacet.deliveries d
        where d.user_id = o.user_id and d.conversation_id = o.conversation_id and d.state = 'held'
        offset 0
      ) d;
  end case;
  if subjects is not null then
    perform tacet.release_holds(
      subjects, users,
      coalesce(
        causes,
        array_fill(case tg_argv[0] when 'left' then 'removed' else tg_argv[0] end, array[cardinality(subjects)])));
  end if;
  if gone is not null then
    perform tacet.clear_messages(gone, places);
  end if;
  -- A message that a user has marked as unread counts again.
  if tg_argv[0] = 'read' and exists (select from tacet.unread_marks) then
    delete from tacet.unread_marks k
    using (
      select u.conversation_id, u.user_id, min(u.created_at) as since
      from (
        select o.conversation_id, r.user_id, o.created_at, o.id
        from previous o
        cross join unnest(o.read_by) as r (user_id)
        except
        select n.conversation_id, r.user_id, n.created_at, n.id
        from changed n
        cross join unnest(n.read_by) as r (user_id)
      ) u
      group by u.conversation_id, u.user_id
    ) unread
    where k.user_id = unread.user_id and k.conversation_id = unread.conversation_id and k.read_until > unread.since;
  end if;
  return null;
exception
  when others then
    perform tacet.count_trigger_failure(sqlstate, sqlerrm);
    return null;
end
$$
$definition$);

-- Tells the trigger on updates of public.messages whether the table has deleted_at, as tacet.fitted does for functions. A trigger
-- that is disabled or the host's own is left alone.
create or replace procedure tacet.fit_triggers()
language plpgsql
as $$
declare
  has_deleted_at boolean := exists (
    select from pg_attribute a
    where a.attrelid = to_regclass('public.messages') and a.attname = 'deleted_at' and not a.attisdropped
  );
begin
  if exists (
    select from pg_trigger t
    where t.tgrelid = to_regclass('public.messages') and t.tgname = 'tacet_message_read' and t.tgenabled = 'O'
      and t.tgfoid = 'tacet.release_concerned()'::regprocedure
      and encode(t.tgargs, 'escape') = 'read\000' || case when has_deleted_at then '' else 'deleted_at\000' end
  ) then
    execute format(
      'create or replace trigger tacet_message_read after update on public.messages '
      'referencing old table as previous new table as changed '
      'for each statement execute function tacet.release_concerned(%s)',
      case when has_deleted_at then '''read'', ''deleted_at''' else '''read''' end);
  end if;
exception
  when insufficient_privilege then
    raise notice 'tacet: as the owner of public.messages, call tacet.fit_triggers(), because it has or had deleted_at';
end
$$;

-- Puts the parked work of a subject back. What is too old is then recorded as expired. Some recipients of an event may be in the
-- ledger; its attempts leave it to the claim that asks the ledger. Returns the number of rows put back.
create or replace function tacet.replay(subject_id tacet.subject_id)
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
    insert into tacet.inbox (subject_id, kind, conversation_id, enqueued_at, attempts)
    select p.subject_id, p.kind, p.conversation_id, p.enqueued_at, p.attempts from parked p where p.user_id is null
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
    update tacet.push_log l
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

-- The queue under load and beside a host's own work: what is found without reading what waits, messages as old as they
-- say, imports that push nothing, and releases that a host's snapshot is too old for.
--
-- Locks: CREATE INDEX keeps writers of tacet.deliveries waiting while it is built, which what waits for APNs at that time
-- decides. CREATE TRIGGER takes SHARE ROW EXCLUSIVE on messages for an instant. A running older service is not affected: it
-- sends to nobody what is older than MESSAGE_TTL_SECONDS by its inbox row, and leaves tacet.releases alone.

-- What waits for its lane, by the moment from which its life counts, as an interval since 1970: of those, unlike of times,
-- expressions can be indexed.
create index if not exists deliveries_expiry_idx on tacet.deliveries
  ((enqueued_at - timestamptz 'epoch' + held_us * interval '1 microsecond')) where state = 'waiting';

-- Holds that a host's transaction wanted to release and could not. Written by many and emptied by the service.
create table if not exists tacet.releases (
  queued_at timestamptz not null default clock_timestamp(),
  id bigint generated always as identity primary key,
  subject_id uuid not null,
  user_id uuid not null,
  cause text not null
);

create index if not exists releases_queued_idx on tacet.releases (queued_at);

alter table tacet.releases set (
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, vacuum_truncate = off
);

-- Makes held pushes due now, because something was learnt about them: subjects, users and causes, in arrays of one length.
-- The causes are read, seen, left, removed, deleted, preferences, review and host; the last of a trigger of the host's own.
--
-- Rows that are being claimed or recorded are left alone rather than waited for: the host's transaction comes first,
-- and the service looks once more at every hold soon after it has recorded it.
--
-- Under REPEATABLE READ and SERIALIZABLE a transaction cannot change a hold that was changed since its snapshot. That is no
-- failure of anybody's: the release is queued, and the service makes it once the transaction has committed.
create or replace function tacet.release_holds(subject_ids uuid[], user_ids uuid[], causes text[])
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
    -- Whether or not the service is awake: its looks at the queue do not see what is queued here.
    perform pg_notify('tacet', 'release')
    from tacet.settings s
    where s.notify_enabled and s.listening_until > clock_timestamp();
end
$$;

-- The trigger on messages. Its table needs a column id; called with the argument 'conversation_id', also that one; with
-- 'conversation_id', 'created_at', both.
--
-- A message that is more than five minutes old when it is inserted becomes available with its own date. So it stands behind
-- what is new, and a host that loads old messages puts them where one statement of the service finds and deletes
-- them. Up to five minutes a date is a client's clock, and the message as new as any. A date that is null, infinite or
-- in the future says nothing.
--
-- Under `set local tacet.skip = 'on'` nothing is enqueued: for imports, and for copies that nobody is to be told of.
--
-- The host pays for all of it, so it is as little as can be: one subtransaction, one statement that enqueues and one that
-- asks whether anybody is to be woken. What goes wrong there takes the inbox row with it, so the row is then written again
-- alone, and only if that fails as well is the message left for the service to find in tacet.trigger_failures. Every wait is
-- bounded by lock_timeout, and what is locked for longer is not waited for twice.
create or replace function tacet.enqueue_inserted_messages()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '400ms'
as $$
declare
  is_notified boolean;
  is_posted boolean;
  failed_state text;
  failed_message text;
begin
  if current_setting('tacet.skip', true) = 'on' then
    return null;
  end if;
  begin
    -- A statement is planned when it is first run: the branch not taken may name a column that is not there.
    if tg_nargs > 1 then
      insert into tacet.inbox (subject_id, kind, conversation_id, available_at)
      select
        inserted.id, 'message', inserted.conversation_id,
        case
          when inserted.created_at > '-infinity' and inserted.created_at < clock_timestamp() - interval '5 minutes'
            then inserted.created_at
          else clock_timestamp()
        end
      from inserted;
    elsif tg_nargs > 0 then
      insert into tacet.inbox (subject_id, kind, conversation_id)
      select inserted.id, 'message', inserted.conversation_id from inserted;
    else
      insert into tacet.inbox (subject_id, kind) select inserted.id, 'message' from inserted;
    end if;
    if found then
      select
        s.notify_enabled and s.listening_until > clock_timestamp() and pg_try_advisory_xact_lock_shared(1952539493, 1),
        s.webhook_url is not null
      into is_notified, is_posted
      from tacet.settings s;
    end if;
    if is_posted then
      perform tacet.wake(i.id) from (select inserted.id from inserted limit 1) i;
    elsif is_notified then
      perform pg_notify('tacet', '');
    end if;
  exception
    when query_canceled or others then
      failed_state := sqlstate;
      failed_message := sqlerrm;
      begin
        if failed_state = '55P03' then
          perform tacet.count_trigger_failure(
            failed_state, failed_message, array(select inserted.id::text from inserted));
        else
          insert into tacet.inbox (subject_id, kind) select inserted.id, 'message' from inserted on conflict do nothing;
          -- A row that was there already is no error: a message was deleted and inserted again.
          if failed_state <> '23505' then
            perform tacet.count_trigger_failure(failed_state, failed_message);
          end if;
        end if;
      exception
        when query_canceled or others then
          perform tacet.count_trigger_failure(sqlstate, sqlerrm, array(select inserted.id::text from inserted));
      end;
  end;
  return null;
end
$$;

-- The trigger on a watched table; its argument is the kind. It fires once per statement, and serves its kind's own table
-- alone. As careful as the one on messages, and skipped as that one.
create or replace function tacet.enqueue_watched()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '400ms'
as $$
declare
  watched tacet.kinds;
  is_wanted boolean;
  subjects uuid[];
  surfaces uuid[];
  failed_state text;
  failed_message text;
begin
  if current_setting('tacet.skip', true) = 'on' then
    return null;
  end if;
  begin
    select k.* into watched from tacet.kinds k where k.kind = tg_argv[0] and k.source = tg_relid;
    if not found then
      return null;
    end if;
    execute format(
      'select array_agg(new.%1$I), array_agg(coalesce(new.%2$I, new.%1$I)) from changed new %3$s where %4$s',
      watched.id_column, coalesce(watched.surface_column, watched.id_column),
      case when watched.update_column is not null then
        format(
          'join previous old on old.%1$I = new.%1$I and old.%2$I is distinct from new.%2$I',
          watched.id_column, watched.update_column)
      end,
      watched.condition)
    into subjects, surfaces;
    if subjects is null then
      return null;
    end if;
    with enqueued as (
      insert into tacet.inbox (subject_id, kind, conversation_id)
      select e.subject_id, watched.kind, e.surface_id
      from unnest(subjects, surfaces) as e (subject_id, surface_id)
      on conflict do nothing
    )
    select s.listening_until > clock_timestamp() into is_wanted from tacet.settings s;
    if is_wanted then
      perform tacet.wake(null);
    end if;
  exception
    when query_canceled or others then
      failed_state := sqlstate;
      failed_message := sqlerrm;
      begin
        insert into tacet.inbox (subject_id, kind)
        select e.id, tg_argv[0] from unnest(subjects) as e (id)
        on conflict do nothing;
        perform tacet.count_missed_events(tg_argv[0], failed_state, failed_message, '{}');
      exception
        when query_canceled or others then
          perform tacet.count_missed_events(tg_argv[0], sqlstate, sqlerrm, subjects);
      end;
  end;
  return null;
end
$$;

-- The default trigger, where messages have a date.
do $$
begin
  if exists (
    select
    from pg_trigger t
    join pg_attribute a on a.attrelid = t.tgrelid and a.attname = 'created_at' and not a.attisdropped
    where t.tgrelid = to_regclass('public.messages') and t.tgname = 'tacet_message_inserted'
      and t.tgfoid = 'tacet.enqueue_inserted_messages()'::regprocedure
      and t.tgargs = 'conversation_id\000'::bytea and a.atttypid = 'timestamptz'::regtype
  ) then
    create or replace trigger tacet_message_inserted
    after insert on public.messages
    referencing new table as inserted
    for each statement execute function tacet.enqueue_inserted_messages('conversation_id', 'created_at');
  end if;
end
$$;

revoke all on all functions in schema tacet from public;

do $$
begin
  perform tacet.grant_services();
end
$$;

insert into tacet.migrations (version, name) values (21, '0021_queue') on conflict do nothing;

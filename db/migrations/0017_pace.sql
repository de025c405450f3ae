-- What a message costs: the badge's count is planned once in a session, and reads only what may be unread; the trigger on
-- inserts does less.
--
-- Locks: only new objects, and functions are replaced. A running older service is not affected; it counts faster too, as far
-- as a newer one moves the marks.

-- Until when a user has read everything in a conversation: counting begins there, instead of at the first message of all.
-- built_at: when it was last made from the beginning.
create table if not exists tacet.unread_marks (
  read_until timestamptz not null,
  built_at timestamptz not null default clock_timestamp(),
  user_id uuid not null,
  conversation_id uuid not null,
  primary key (user_id, conversation_id)
) with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);

comment on table tacet.unread_marks is
  'where counting of unread messages begins; may be emptied at any time, which makes badges slower for an hour';

set check_function_bodies = off;

-- The default of the host contract's function, unless the host has replaced it.
--
-- A function in plain SQL that aggregates is not inlined into the statement that calls it: it was planned anew in every
-- claim, which took longer than the counting. PL/pgSQL keeps the plan for the session. The inner selects leave the planner
-- no other way than one look-up for each conversation.
do $$
begin
  if md5((
    select regexp_replace(p.prosrc, '\s+', ' ', 'g')
    from pg_proc p
    where p.oid = to_regprocedure('tacet.unread_count(uuid)')
  )) = '98501dcf21cd6749ae9ed5b6c169c3fd' then
    create or replace function tacet.unread_count(user_id uuid)
    returns bigint
    language plpgsql stable
    as $function$
    #variable_conflict use_column
    begin
      return (
        select coalesce(sum(u.unread), 0)::bigint
        from public.conversation_participants c
        cross join lateral (
          select count(*) as unread
          from public.messages m
          where m.conversation_id = c.conversation_id
            and m.created_at >= coalesce((
              select k.read_until
              from tacet.unread_marks k
              where k.user_id = c.user_id and k.conversation_id = c.conversation_id
            ), '-infinity')
            and m.from_id <> c.user_id
            and not (m.read_by @> array[c.user_id])
        ) u
        where c.user_id = unread_count.user_id);
    end
    $function$;
  end if;
end
$$;

-- Moves users' marks to their first unread message, or to ten minutes ago: a message is dated when its transaction begins,
-- and may become visible later. Where nearly nothing would be passed over, none is made. A mark is made from the beginning
-- again after a day, which finds what was inserted with a date of the past.
--
-- For as long as unread_count is the default; another one has no use for marks.
create or replace function tacet.move_unread_marks(user_ids uuid[])
returns void
language plpgsql volatile
as $$
#variable_conflict use_column
begin
  if not exists (
    select
    from pg_proc p
    where p.oid = to_regprocedure('tacet.unread_count(uuid)') and p.prosrc like '%tacet.unread_marks%'
  ) then
    return;
  end if;
  insert into tacet.unread_marks as k (user_id, conversation_id, read_until, built_at)
  select n.user_id, n.conversation_id, n.read_until, coalesce(n.built_at, clock_timestamp())
  from (
    select c.user_id, c.conversation_id, k.built_at, coalesce(k.read_until, '-infinity') as counted_from, least(
      now() - interval '10 minutes',
      (
        select m.created_at
        from public.messages m
        where m.conversation_id = c.conversation_id and m.created_at >= coalesce(k.read_until, '-infinity')
          and m.from_id <> c.user_id and not (m.read_by @> array[c.user_id])
        order by m.created_at
        limit 1
      )) as read_until
    from unnest(move_unread_marks.user_ids) as u (user_id)
    join public.conversation_participants c on c.user_id = u.user_id
    left join lateral (
      select x.read_until, x.built_at
      from tacet.unread_marks x
      where x.user_id = c.user_id and x.conversation_id = c.conversation_id
        and x.built_at > now() - interval '1 day'
    ) k on true
    order by c.user_id, c.conversation_id
  ) n
  where n.read_until > n.counted_from and 16 <= (
    select count(*)
    from (
      select
      from public.messages m
      where m.conversation_id = n.conversation_id and m.created_at >= n.counted_from and m.created_at < n.read_until
      limit 16
    ) passed
  )
  on conflict (user_id, conversation_id) do update
  set read_until = excluded.read_until, built_at = excluded.built_at;
end
$$;

reset check_function_bodies;

-- As before, but that it forgets the marks of those for whom a message is unread again, and that a large statement is no more
-- than many small ones: what it has changed is found set against set, and each look at the deliveries is one by their index
-- (an offset keeps it where it is). Joined to each other, old and new rows were planned for the few rows of most statements,
-- and each of one then taken with each of the other.
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
  causes text[];
begin
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
        where d.subject_id = news.id and d.user_id = news.user_id and d.state = 'held'
        offset 0
      ) d;
    when 'deleted' then
      select array_agg(d.subject_id), array_agg(d.user_id) into subjects, users
      from previous o
      cross join lateral (
        select d.subject_id, d.user_id
        from tacet.deliveries d
        where d.subject_id = o.id and d.state = 'held'
        offset 0
      ) d;
    when 'seen' then
      with left_now as (
        select n.conversation_id, n.user_id, n.left_at from changed n where n.left_at is not null
        except
        select o.conversation_id, o.user_id, o.left_at from previous o
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
        select n.conversation_id, n.user_id, n.last_seen, n.left_at from changed n
        except
        select o.conversation_id, o.user_id, o.last_seen, o.left_at from previous o
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
  -- A message that somebody has marked as unread again is counted again.
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
  when query_canceled or others then
    perform tacet.count_trigger_failure(sqlstate, sqlerrm);
    return null;
end
$$;

-- As before, but that it looks at the settings once and calls nothing to notify, unless a webhook is to be posted as well, which
-- makes a message a sixth cheaper for the host; and that it waits up to 400 ms for a lock.
--
-- PostgreSQL lets one session at a time make a table larger. Where many sessions inserted hundreds of messages each at once, on a
-- slow disk, that took more than the 50 ms of before: they left their messages to tacet.trigger_failures, and some had to give up
-- there as well. What is locked for longer is not waited for twice, so that no insert takes a second longer.
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
  begin
    -- A statement is planned when it is first run: the branch not taken may name a column that is not there.
    if tg_nargs > 0 then
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

alter function tacet.enqueue_watched() set lock_timeout = '400ms';

revoke all on all functions in schema tacet from public;

do $$
begin
  perform tacet.grant_services();
end
$$;

insert into tacet.migrations (version, name) values (17, '0017_pace') on conflict do nothing;

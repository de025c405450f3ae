-- Presence, reads and opened pushes as apps report them.
--
-- Locks: CREATE TRIGGER takes SHARE ROW EXCLUSIVE on profiles for an instant; storage parameters take SHARE UPDATE
-- EXCLUSIVE on conversation_participants, which nobody but vacuum waits for. The rest are new objects. A running older
-- service is not affected.

-- A report that says what the row says already is not written again within this time.
--
-- Far shorter than the interval of reports, so that every regular one is written, and long enough for an app that reports
-- at each tap, or for a user with several devices.
create or replace function tacet.presence_repeats_within()
returns interval
language sql immutable parallel safe
as $$ select interval '5 seconds' $$;

set check_function_bodies = off;

-- Part of the host contract: whether a user takes part in a conversation; null when there is no such conversation.
create or replace function tacet.takes_part(conversation_id uuid, user_id uuid)
returns boolean
language sql stable
as $$
  select coalesce(
    (
      select true
      from public.conversation_participants c
      where c.conversation_id = takes_part.conversation_id and c.user_id = takes_part.user_id
    ),
    (select false from public.conversations c where c.id = takes_part.conversation_id))
$$;

-- Part of the host contract: whether a user may report to look at a surface that is no conversation; null when there is no
-- such kind or no such surface. Without a replacement there is none. Applying this file again keeps what is there.
do $$
begin
  if to_regprocedure('tacet.may_view(text, uuid, uuid)') is null then
    create function tacet.may_view(surface_kind text, surface_id uuid, user_id uuid)
    returns boolean
    language sql stable
    as 'select null::boolean';
  end if;
end
$$;

-- Part of the host contract: writes who looks at which conversation now, and who has left. Arrays of one length; no
-- conversation and user twice.
--
-- have_looked: the user looks, or has looked since the last call. have_left: the user has left, after looking if both are
-- true. is_participant: whether the user takes part; null when there is no such conversation. Nothing is written unless it
-- is true. is_skipped: whether nothing was written because somebody else has locked the row; what was said of it then
-- comes again soon.
--
-- A call waits for no row: a transaction of the host that has one would keep everybody else's reports waiting, and would
-- end in a deadlock when it wants another one of them. The clock is read when the row is locked, so that times of one row
-- grow in the order in which they are written. A look clears left_at rather than to trust that it is older: clocks are
-- set. Leaving is dated after a look that a client has put into the future.
--
-- What is said again is not written, unless somebody has to learn of it: a push that is held, or a message that has come
-- after the look that is stored.
create or replace function tacet.view_conversations(
  conversation_ids uuid[], user_ids uuid[], have_looked boolean[], have_left boolean[]
)
returns table (conversation_id uuid, user_id uuid, is_participant boolean, is_skipped boolean)
language plpgsql volatile
as $$
begin
  return query
    with reported as materialized (
      select r.*
      from unnest(
        view_conversations.conversation_ids, view_conversations.user_ids, view_conversations.have_looked,
        view_conversations.have_left
      ) as r (conversation_id, user_id, has_looked, has_left)
    ), wanted as materialized (
      select r.*
      from reported r
      cross join lateral (
        select
        from public.conversation_participants c
        where c.conversation_id = r.conversation_id and c.user_id = r.user_id
          and (
            r.has_left
            or c.last_seen is null
            or c.last_seen not between clock_timestamp() - tacet.presence_repeats_within() and clock_timestamp()
            or c.left_at >= c.last_seen
            or exists (
              select from tacet.deliveries d
              where d.user_id = c.user_id and d.conversation_id = c.conversation_id and d.state = 'held'
            )
            or exists (
              select from public.messages m
              where m.conversation_id = c.conversation_id and m.created_at >= c.last_seen
            )
          )
        limit 1
      ) c
    ), locked as materialized (
      select w.*, c.is_locked, clock_timestamp() as moment
      from wanted w
      left join lateral (
        select true as is_locked
        from public.conversation_participants c
        where c.conversation_id = w.conversation_id and c.user_id = w.user_id
        for no key update skip locked
      ) c on true
    ), written as (
      update public.conversation_participants c
      set
        last_seen = case when l.has_looked then l.moment else c.last_seen end,
        left_at = case when l.has_left then greatest(l.moment, case when not l.has_looked then c.last_seen end) end
      from locked l
      where l.is_locked and c.conversation_id = l.conversation_id and c.user_id = l.user_id
    )
    select
      r.conversation_id, r.user_id, tacet.takes_part(r.conversation_id, r.user_id),
      ((r.conversation_id, r.user_id) in (
        select l.conversation_id, l.user_id from locked l where l.is_locked is null)) is true
    from reported r;
end
$$;

-- Part of the host contract: marks what others wrote in a conversation as read by a user, the oldest first, a thousand
-- messages at the most; returns their ids in that order, none when nothing is left.
--
-- up_to_message_id: the last one to be marked; null for all. Rows are locked in the order of their times, so that two
-- calls cannot wait for each other; what somebody has marked meanwhile is left out. A call waits for less time than after
-- which PostgreSQL looks for deadlocks (deadlock_timeout, one second), so that no transaction of the host becomes the
-- victim of one; the reader's app asks again. updated_at stays, because apps show by
-- it what was edited.
create or replace function tacet.mark_read(conversation_id uuid, user_id uuid, up_to_message_id uuid)
returns setof uuid
language plpgsql volatile
set lock_timeout = '200ms'
as $$
begin
  return query
    with unread as materialized (
      select m.id, m.created_at
      from public.messages m
      where m.conversation_id = mark_read.conversation_id
        and m.from_id <> mark_read.user_id
        and not (m.read_by @> array[mark_read.user_id])
        and (
          mark_read.up_to_message_id is null
          or (m.created_at, m.id) <= (
            select last.created_at, last.id from public.messages last where last.id = mark_read.up_to_message_id
          )
        )
      order by m.created_at, m.id
      limit 1000
      for no key update
    ), marked as (
      update public.messages m
      set read_by = array_append(m.read_by, mark_read.user_id)
      from unread u
      where m.id = u.id
      returning m.id
    )
    select u.id from unread u where u.id in (select k.id from marked k) order by u.created_at, u.id;
end
$$;

reset check_function_bodies;

-- What cannot work is not called at all: where the tables are other ones, nobody is known until the host has replaced the
-- functions.
do $$
begin
  perform from tacet.view_conversations('{}', '{}', '{}', '{}');
  perform tacet.takes_part(null, null);
  perform from tacet.mark_read(null, null, null);
exception
  when others then
    create or replace function tacet.takes_part(conversation_id uuid, user_id uuid)
    returns boolean
    language sql stable
    as 'select null::boolean';

    create or replace function tacet.view_conversations(
      conversation_ids uuid[], user_ids uuid[], have_looked boolean[], have_left boolean[]
    )
    returns table (conversation_id uuid, user_id uuid, is_participant boolean, is_skipped boolean)
    language sql volatile
    as 'select r.*, null::boolean, false from unnest(conversation_ids, user_ids) as r (conversation_id, user_id)';

    create or replace function tacet.mark_read(conversation_id uuid, user_id uuid, up_to_message_id uuid)
    returns setof uuid
    language sql volatile
    as 'select null::uuid where false';
    raise notice 'tacet: the host tables differ from the default (%); replace tacet.takes_part, view_conversations and mark_read',
      sqlerrm;
end
$$;

-- A heartbeat of everybody who looks rewrites rows that an index on last_seen keeps from being rewritten in place. By the
-- server's defaults a fifth of the table would die before a vacuum. A host that has settings of its own keeps them.
do $$
begin
  if exists (
    select from pg_class c
    where c.oid = to_regclass('public.conversation_participants') and c.relkind = 'r'
      and not exists (select from unnest(c.reloptions) as o (setting) where o.setting like 'autovacuum%')
  ) then
    alter table public.conversation_participants set (
      autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
    );
  end if;
exception
  when insufficient_privilege then
    raise notice 'tacet: have conversation_participants vacuumed often, because heartbeats rewrite its rows';
end
$$;

-- Who looks at which surface that is no conversation, and who has left. Rewritten all the time: no index on the times, and
-- room beside each row, so that an update stays on its page.
create table if not exists tacet.surface_views (
  last_seen timestamptz,
  left_at timestamptz,
  surface_id uuid not null,
  user_id uuid not null,
  surface_kind text not null,
  primary key (user_id, surface_id, surface_kind)
) with (
  fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000, vacuum_truncate = off
);

-- The same as tacet.view_conversations for other surfaces, after asking tacet.may_view; and makes due what is held for the
-- user there. It waits for nobody but another call that writes the first view of the same user and surface.
create or replace function tacet.view_surfaces(
  surface_kinds text[], surface_ids uuid[], user_ids uuid[], have_looked boolean[], have_left boolean[]
)
returns table (surface_kind text, surface_id uuid, user_id uuid, is_viewer boolean, is_skipped boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  verdicts boolean[] := array(
    select tacet.may_view(r.surface_kind, r.surface_id, r.user_id)
    from unnest(view_surfaces.surface_kinds, view_surfaces.surface_ids, view_surfaces.user_ids)
      with ordinality as r (surface_kind, surface_id, user_id, place)
    order by r.place);
  skipped bigint[];
begin
  with wanted as materialized (
    select r.*, v.user_id is not null as is_known
    from unnest(
      view_surfaces.surface_kinds, view_surfaces.surface_ids, view_surfaces.user_ids, view_surfaces.have_looked,
      view_surfaces.have_left, verdicts
    ) with ordinality as r (surface_kind, surface_id, user_id, has_looked, has_left, is_viewer, place)
    left join lateral (
      select x.user_id, x.last_seen, x.left_at
      from tacet.surface_views x
      where x.user_id = r.user_id and x.surface_id = r.surface_id and x.surface_kind = r.surface_kind
      limit 1
    ) v on true
    where r.is_viewer
      and (
        r.has_left
        or v.last_seen is null
        or v.last_seen not between clock_timestamp() - tacet.presence_repeats_within() and clock_timestamp()
        or v.left_at >= v.last_seen
        or exists (
          select from tacet.deliveries d
          where d.user_id = r.user_id and d.conversation_id = r.surface_id and d.state = 'held'
        )
      )
  ), locked as materialized (
    select w.*, not w.is_known or x.is_locked is true as is_free
    from wanted w
    left join lateral (
      select true as is_locked
      from tacet.surface_views x
      where x.user_id = w.user_id and x.surface_id = w.surface_id and x.surface_kind = w.surface_kind
      for no key update skip locked
    ) x on true
  ), written as (
    insert into tacet.surface_views as v (surface_kind, surface_id, user_id, last_seen, left_at)
    select
      l.surface_kind, l.surface_id, l.user_id, case when l.has_looked then clock_timestamp() end,
      case when l.has_left then clock_timestamp() end
    from locked l
    where l.is_free
    order by l.user_id, l.surface_id, l.surface_kind
    on conflict on constraint surface_views_pkey do update
    set
      last_seen = case when excluded.last_seen is null then v.last_seen else clock_timestamp() end,
      left_at = case when excluded.left_at is not null then clock_timestamp() end
  )
  select coalesce(array_agg(l.place) filter (where not l.is_free), '{}') into skipped from locked l;

  perform tacet.release_holds(held.subject_ids, held.user_ids)
  from (
    select array_agg(d.subject_id) as subject_ids, array_agg(d.user_id) as user_ids
    from unnest(view_surfaces.surface_ids, view_surfaces.user_ids, verdicts)
      with ordinality as r (surface_id, user_id, is_viewer, place)
    join tacet.deliveries d on d.user_id = r.user_id and d.conversation_id = r.surface_id
    where r.is_viewer and r.place <> all (skipped) and d.state = 'held'
    having count(*) > 0
  ) held;

  return query
    select r.surface_kind, r.surface_id, r.user_id, r.is_viewer, r.place = any (skipped)
    from unnest(view_surfaces.surface_kinds, view_surfaces.surface_ids, view_surfaces.user_ids, verdicts)
      with ordinality as r (surface_kind, surface_id, user_id, is_viewer, place);
end
$$;

-- Reads of a user that other devices of the same user are to be told of, by a push of kind read_sync.
--
-- available_at: when that push may go. conversation_id: where the messages are; null when they are in several
-- conversations. message_ids: what was read, the oldest first, at most the newest ninety, because no more fit into a push;
-- has_more: whether earlier ones were left out. device_token: the device that has read and knows; null when there were
-- several.
create table if not exists tacet.read_syncs (
  available_at timestamptz not null,
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null,
  conversation_id uuid,
  has_more boolean not null default false,
  message_ids uuid[] not null,
  device_token text
) with (fillfactor = 70, vacuum_truncate = off);

create index if not exists read_syncs_user_idx on tacet.read_syncs (user_id, available_at);
create index if not exists read_syncs_available_idx on tacet.read_syncs (available_at);

-- Queues a push to the other devices of a user about what was read in a conversation; nothing if there is no such device.
-- Returns in how many microseconds it may go, null when there is none.
--
-- At most one push in ten seconds for each user. What is read while one waits, wherever, is added to that one, unless it
-- has been claimed; so at most one waits, for no longer than that. Its age counts from when it may go. The inbox row is
-- updated, though nothing in it changes, because a claim whose snapshot is older then finds that the row has moved and
-- leaves it to the next claim, which sees what was added.
create or replace function tacet.sync_read(
  user_id uuid, conversation_id uuid, message_ids uuid[], device_token text
)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  pending_id uuid;
  free_at timestamptz;
begin
  if not exists (
    select from tacet.device_tokens(sync_read.user_id) d
    where lower(d.device_token) <> coalesce(lower(sync_read.device_token), '')
  ) then
    return null;
  end if;
  -- One read of a user at a time, or two would not see each other's push. 1952539494 is next to the awake lock's number.
  perform pg_advisory_xact_lock(1952539494, hashtext(sync_read.user_id::text));

  update tacet.inbox i
  set available_at = i.available_at
  where i.kind = 'read_sync' and not i.is_claimed
    and i.subject_id = (
      select s.id
      from tacet.read_syncs s
      where s.user_id = sync_read.user_id
      order by s.available_at desc
      limit 1
    )
  returning i.subject_id, i.available_at into pending_id, free_at;
  if found then
    update tacet.read_syncs s
    set
      conversation_id = case when s.conversation_id = sync_read.conversation_id then s.conversation_id end,
      message_ids = (s.message_ids || sync_read.message_ids)[cardinality(s.message_ids || sync_read.message_ids) - 89:],
      has_more = s.has_more or cardinality(s.message_ids || sync_read.message_ids) > 90,
      device_token = case when lower(s.device_token) = lower(sync_read.device_token) then s.device_token end
    where s.id = pending_id;
  else
    select greatest(clock_timestamp(), max(s.available_at) + interval '10 seconds') into free_at
    from tacet.read_syncs s
    where s.user_id = sync_read.user_id;
    with sync as (
      insert into tacet.read_syncs (available_at, user_id, conversation_id, message_ids, has_more, device_token)
      values (
        free_at, sync_read.user_id, sync_read.conversation_id,
        sync_read.message_ids[greatest(cardinality(sync_read.message_ids) - 89, 1):],
        cardinality(sync_read.message_ids) > 90, sync_read.device_token)
      returning id
    )
    insert into tacet.inbox (subject_id, kind, available_at, enqueued_at, conversation_id)
    select s.id, 'read_sync', free_at, free_at, sync_read.conversation_id from sync s;
  end if;
  return greatest(0, extract(epoch from free_at - clock_timestamp()) * 1000000)::bigint;
end
$$;

-- Marks what a user has read in a conversation, a batch at a time, and queues what other devices are to be told: one
-- transaction, so that neither happens without the other.
--
-- takes_part: null when there is no such conversation. knows_message: whether up_to_message_id is one of it. read_count:
-- messages marked; call again while it is 1000. badge: unread messages then; null while there may be more. sync_wait: as
-- tacet.sync_read returns it.
create or replace function tacet.read_conversation(
  conversation_id uuid, user_id uuid, up_to_message_id uuid, device_token text, is_synced boolean,
  out takes_part boolean, out knows_message boolean, out read_count bigint, out badge bigint, out sync_wait bigint
)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  message_ids uuid[];
begin
  read_count := 0;
  takes_part := tacet.takes_part(read_conversation.conversation_id, read_conversation.user_id);
  knows_message := read_conversation.up_to_message_id is null or exists (
    select from tacet.message_context(read_conversation.up_to_message_id) m
    where m.conversation_id = read_conversation.conversation_id
  );
  if takes_part is not true or not knows_message then
    return;
  end if;
  message_ids := array(
    select r.id
    from tacet.mark_read(
      read_conversation.conversation_id, read_conversation.user_id, read_conversation.up_to_message_id
    ) with ordinality as r (id, place)
    order by r.place
  );
  read_count := cardinality(message_ids);
  if read_count > 0 and is_synced then
    sync_wait := tacet.sync_read(
      read_conversation.user_id, read_conversation.conversation_id, message_ids, read_conversation.device_token);
  end if;
  if read_count < 1000 then
    badge := tacet.unread_count(read_conversation.user_id);
  end if;
end
$$;

-- A deleted user's views and reads go with the user.
create or replace function tacet.forget_views_of_profiles()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
begin
  delete from tacet.surface_views v using deleted where v.user_id = deleted.id;
  delete from tacet.read_syncs s using deleted where s.user_id = deleted.id;
  return null;
exception
  when query_canceled or others then
    perform tacet.count_trigger_failure(sqlstate, sqlerrm);
    return null;
end
$$;

create or replace trigger tacet_profile_views_deleted
after delete on public.profiles
referencing old table as deleted
for each statement execute function tacet.forget_views_of_profiles();

revoke all on all functions in schema tacet from public;

insert into tacet.migrations (version, name) values (9, '0009_presence') on conflict do nothing;

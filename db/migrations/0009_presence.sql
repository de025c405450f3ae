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
-- such kind or no such surface. Without a replacement there is none.
create or replace function tacet.may_view(surface_kind text, surface_id uuid, user_id uuid)
returns boolean
language sql stable
as 'select null::boolean';

-- Part of the host contract: writes who looks at which conversation now, and who has left. Arrays of one length; no
-- conversation and user twice.
--
-- have_looked: the user looks, or has looked since the last call. have_left: the user has left, after looking if both are
-- true. is_participant: whether the user takes part; null when there is no such conversation. Nothing is written unless it
-- is true.
--
-- Rows are locked in the order of their key, so that two calls cannot wait for each other, and the clock is read when the
-- row is locked, so that times of one row grow in the order in which they are written. A look clears left_at rather than
-- to trust that it is older: clocks are set. Leaving is dated after a look that a client has put into the future.
--
-- What is said again is not written, unless somebody has to learn of it: a push that is held, or a message that has come
-- after the look that is stored.
create or replace function tacet.view_conversations(
  conversation_ids uuid[], user_ids uuid[], have_looked boolean[], have_left boolean[]
)
returns table (conversation_id uuid, user_id uuid, is_participant boolean)
language plpgsql volatile
as $$
begin
  with reported as materialized (
    select r.*
    from unnest(
      view_conversations.conversation_ids, view_conversations.user_ids, view_conversations.have_looked,
      view_conversations.have_left
    ) as r (conversation_id, user_id, has_looked, has_left)
    order by r.conversation_id, r.user_id
  ), locked as materialized (
    select r.*, clock_timestamp() as moment
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
      for no key update
    ) c
  )
  update public.conversation_participants c
  set
    last_seen = case when l.has_looked then l.moment else c.last_seen end,
    left_at = case when l.has_left then greatest(l.moment, case when not l.has_looked then c.last_seen end) end
  from locked l
  where c.conversation_id = l.conversation_id and c.user_id = l.user_id;

  return query
    select r.conversation_id, r.user_id, tacet.takes_part(r.conversation_id, r.user_id)
    from unnest(view_conversations.conversation_ids, view_conversations.user_ids) as r (conversation_id, user_id);
end
$$;

-- Part of the host contract: marks what others wrote in a conversation as read by a user, the oldest first, a thousand
-- messages at the most; returns their ids in that order, none when nothing is left.
--
-- up_to_message_id: the last one to be marked; null for all. Rows are locked in the order of their times, so that two
-- calls cannot wait for each other; what somebody has marked meanwhile is left out. updated_at stays, because apps show by
-- it what was edited.
create or replace function tacet.mark_read(conversation_id uuid, user_id uuid, up_to_message_id uuid)
returns setof uuid
language plpgsql volatile
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
    returns table (conversation_id uuid, user_id uuid, is_participant boolean)
    language sql volatile
    as 'select r.*, null::boolean from unnest(conversation_ids, user_ids) as r (conversation_id, user_id)';

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
-- user there.
create or replace function tacet.view_surfaces(
  surface_kinds text[], surface_ids uuid[], user_ids uuid[], have_looked boolean[], have_left boolean[]
)
returns table (surface_kind text, surface_id uuid, user_id uuid, is_viewer boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  verdicts boolean[] := array(
    select tacet.may_view(r.surface_kind, r.surface_id, r.user_id)
    from unnest(view_surfaces.surface_kinds, view_surfaces.surface_ids, view_surfaces.user_ids)
      with ordinality as r (surface_kind, surface_id, user_id, place)
    order by r.place);
begin
  insert into tacet.surface_views as v (surface_kind, surface_id, user_id, last_seen, left_at)
  select
    r.surface_kind, r.surface_id, r.user_id, case when r.has_looked then clock_timestamp() end,
    case when r.has_left then clock_timestamp() end
  from unnest(
    view_surfaces.surface_kinds, view_surfaces.surface_ids, view_surfaces.user_ids, view_surfaces.have_looked,
    view_surfaces.have_left, verdicts
  ) as r (surface_kind, surface_id, user_id, has_looked, has_left, is_viewer)
  where r.is_viewer
  order by r.user_id, r.surface_id, r.surface_kind
  on conflict on constraint surface_views_pkey do update
  set
    last_seen = case when excluded.last_seen is null then v.last_seen else clock_timestamp() end,
    left_at = case when excluded.left_at is not null then clock_timestamp() end
  where excluded.left_at is not null
    or v.last_seen is null
    or v.last_seen not between clock_timestamp() - tacet.presence_repeats_within() and clock_timestamp()
    or v.left_at >= v.last_seen
    or exists (
      select from tacet.deliveries d
      where d.user_id = v.user_id and d.conversation_id = v.surface_id and d.state = 'held'
    );

  perform tacet.release_holds(held.subject_ids, held.user_ids)
  from (
    select array_agg(d.subject_id) as subject_ids, array_agg(d.user_id) as user_ids
    from unnest(view_surfaces.surface_ids, view_surfaces.user_ids, verdicts) as r (surface_id, user_id, is_viewer)
    join tacet.deliveries d on d.user_id = r.user_id and d.conversation_id = r.surface_id
    where r.is_viewer and d.state = 'held'
    having count(*) > 0
  ) held;

  return query
    select r.*
    from unnest(view_surfaces.surface_kinds, view_surfaces.surface_ids, view_surfaces.user_ids, verdicts)
      as r (surface_kind, surface_id, user_id, is_viewer);
end
$$;

-- A deleted user's views go with the user.
create or replace function tacet.forget_views_of_profiles()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
begin
  delete from tacet.surface_views v using deleted where v.user_id = deleted.id;
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

-- A service with a role of its own may call what its role may call already, and use the new table as it does the inbox.
do $$
declare
  grantee regrole;
  routine regprocedure;
begin
  for grantee in
    select a.grantee
    from pg_proc p, aclexplode(p.proacl) a
    where p.oid = 'tacet.invalidate_device_token(text, text, timestamptz)'::regprocedure
      and a.privilege_type = 'EXECUTE' and a.grantee not in (0, p.proowner)
  loop
    execute format('grant select, insert, update, delete on tacet.surface_views to %s', grantee);
    foreach routine in array array[
      'tacet.presence_repeats_within()', 'tacet.takes_part(uuid, uuid)', 'tacet.may_view(text, uuid, uuid)',
      'tacet.view_conversations(uuid[], uuid[], boolean[], boolean[])',
      'tacet.view_surfaces(text[], uuid[], uuid[], boolean[], boolean[])', 'tacet.mark_read(uuid, uuid, uuid)'
    ]::regprocedure[] loop
      execute format('grant execute on function %s to %s', routine, grantee);
    end loop;
  end loop;
end
$$;

insert into tacet.migrations (version, name) values (9, '0009_presence') on conflict do nothing;

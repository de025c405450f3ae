-- Badges: how far they count, and how the default of tacet.unread_count does.

-- The number up to which unread messages are counted: BADGE_MAX of the service whose session it is, 999 for other sessions.
create or replace function tacet.badge_max()
returns bigint
language sql stable
as $$
  select coalesce(nullif(current_setting('tacet.badge_max', true), '')::bigint, 999)
$$;

-- How many messages a user has not read, in at most a thousand conversations and the newest ten thousand messages of each, so that
-- one user's history does not delay the pushes of others. A deleted message is not counted. left_out: conversations that are
-- counted otherwise.
--
-- Readers are compared with `= any`, which takes half as long as `@>`; like that it passes over nulls among them.
--
-- One row, and SQL, so that the planner makes it a part of the statement that asks: setting up a separate statement takes as long as
-- counting.
call tacet.define($definition$
create or replace function tacet.count_unread(user_id tacet.user_id, left_out tacet.conversation_id[] default '{}')
returns table (unread bigint)
language sql stable
as $$
  select count(*)
  from (
    select
    from (
      select c.conversation_id, c.user_id
      from public.conversation_participants c
      where c.user_id = count_unread.user_id
        and present(c) -- if conversation_participants.shown
      limit 1000
    ) c
    cross join lateral (
      select
        columns(m), -- if messages.shown
        m.from_id, m.read_by
      from public.messages m
      where m.conversation_id = c.conversation_id
        and m.created_at >= coalesce((
          select k.read_until
          from tacet.unread_marks k
          where k.user_id = c.user_id and k.conversation_id = c.conversation_id
        ), '-infinity')
      order by m.created_at desc
      limit 10000
    ) m
    where c.conversation_id <> all (count_unread.left_out) and m.from_id <> c.user_id
      and (c.user_id = any (m.read_by)) is not true and m.read_by is not null
      and shown(m) -- if messages.shown
    limit tacet.badge_max()
  ) n
$$
$definition$);

-- Whether tacet.unread_count is the default, which counts with tacet.count_unread.
create or replace function tacet.counts_by_default()
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from pg_proc p
    where p.oid = to_regprocedure('tacet.unread_count(tacet.user_id)') and p.prosrc like '%from tacet.count_unread(%'
  )
$$;

-- The same when a statement is planned. Called immutable, so that the planner asks once and leaves out the branch that is not taken.
-- Only for a statement that calls tacet.unread_count as well: then PostgreSQL plans it anew when that function is replaced.
create or replace function tacet.counts_by_default_when_planned()
returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp
as $$ select tacet.counts_by_default() $$;

-- Whether tacet.is_mentioned is the default, which looks for an @ in the text; as tacet.counts_by_default_when_planned.
create or replace function tacet.mentions_by_default_when_planned()
returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from pg_proc p
    where p.oid = to_regprocedure('tacet.is_mentioned(tacet.message_id, tacet.user_id)')
      and p.prosrc like '%string_to_table(lower(%''@''%'
  )
$$;

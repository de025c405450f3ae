-- Defaults of the host contract, whose functions db/CONTRACT.md describes: presence and reads as apps report them.

-- A report that repeats what the row says is written at most once in this time.
--
-- It is far shorter than the interval between reports, so that each regular report is written, and long enough for an app that
-- reports at each tap or for a user with several devices.
create or replace function tacet.presence_repeats_within()
returns interval
language sql immutable parallel safe
as $$ select interval '5 seconds' $$;

call tacet.provide('takes_part(tacet.conversation_id, tacet.user_id)',
  inert => 'select bool_or(s.user_id = takes_part.user_id) from tacet.seen_by(takes_part.conversation_id) s',
  definition => $default$
create or replace function tacet.takes_part(conversation_id tacet.conversation_id, user_id tacet.user_id)
returns boolean
language sql stable
as $$
  select coalesce(
    (
      select true
      from public.conversation_participants c
      where c.conversation_id = takes_part.conversation_id and c.user_id = takes_part.user_id
        and present(c) -- if conversation_participants.shown
    ),
    (select false from public.conversations c where c.id = takes_part.conversation_id))
$$
$default$);

-- have_looked, have_left: since the last call; both true means that the user has left after looking.
--
-- A call waits for no row: a transaction of the host that has locked one would delay everybody's reports, and deadlock with a
-- call when it wants another. The clock is read when the row is locked, so that the times of a row only grow. A look clears
-- tacet_left_at, because clocks are set and comparing would not do. Leaving is dated after a look that a client has dated in the
-- future.
--
-- A repeated report is not written, unless something depends on it: a held push, or a message after the stored look.
call tacet.provide('view_conversations(tacet.conversation_id[], tacet.user_id[], boolean[], boolean[])',
  inert => 'select r.*, null::boolean, false from unnest(conversation_ids, user_ids) as r (conversation_id, user_id)',
  definition => $default$
create or replace function tacet.view_conversations(
  conversation_ids tacet.conversation_id[], user_ids tacet.user_id[], have_looked boolean[], have_left boolean[]
)
returns table (conversation_id tacet.conversation_id, user_id tacet.user_id, is_participant boolean, is_skipped boolean)
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
        select from public.conversation_participants c
        where c.conversation_id = r.conversation_id and c.user_id = r.user_id
          and present(c) -- if conversation_participants.shown
          and (
            r.has_left
            or c.last_seen is null
            or c.last_seen not between clock_timestamp() - tacet.presence_repeats_within() and clock_timestamp()
            or c.tacet_left_at >= c.last_seen
            or exists (
              select from tacet.deliveries d
              where d.user_id = c.user_id and d.conversation_id = c.conversation_id and d.state = 'held'
            )
            or exists (
              select from public.messages m
              where m.conversation_id = c.conversation_id
                and m.created_at >= c.last_seen -- unless messages.created_at_unzoned
                and m.created_at >= c.last_seen - interval '1 day' -- if messages.created_at_unzoned
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
        tacet_left_at = case when l.has_left then greatest(l.moment, case when not l.has_looked then c.last_seen end) end
      from locked l
      where l.is_locked and c.conversation_id = l.conversation_id and c.user_id = l.user_id
    )
    select
      r.conversation_id, r.user_id, tacet.takes_part(r.conversation_id, r.user_id),
      ((r.conversation_id, r.user_id) in (
        select l.conversation_id, l.user_id from locked l where l.is_locked is null)) is true
    from reported r;
end
$$
$default$);

-- Rows are locked in the order of their times, so that two calls cannot deadlock, and messages marked meanwhile are left out. A
-- call waits less than PostgreSQL's deadlock_timeout of one second, so that no transaction of the host becomes the victim; the app
-- asks again. updated_at stays, because apps show edits by it.
call tacet.provide('mark_read(tacet.conversation_id, tacet.user_id, tacet.message_id)',
  inert => 'select null::tacet.message_id where false', definition => $default$
create or replace function tacet.mark_read(
  conversation_id tacet.conversation_id, user_id tacet.user_id, up_to_message_id tacet.message_id
)
returns setof tacet.message_id
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
$$
$default$);

-- Everybody may look at a surface of a watched kind: a report holds back only the user's own pushes. A surface exists when its
-- table has it; without such a table, when a row of the source names it, which is fast with an index on that column. A kind
-- whose table or column is gone has no surfaces.
call tacet.provide('may_view(text, tacet.conversation_id, tacet.user_id)', definition => $default$
create or replace function tacet.may_view(surface_kind text, surface_id tacet.conversation_id, user_id tacet.user_id)
returns boolean
language plpgsql stable
as $$
declare
  looking text;
  is_there boolean;
begin
  for looking in
    select format('select exists (select from %s t where t.%I = $1)', a.attrelid::regclass, a.attname)
    from tacet.kinds k
    join pg_attribute a
      on a.attrelid = coalesce(k.surface_table, k.source)
      and a.attname = case when k.surface_table is not null then 'id' else coalesce(k.surface_column, k.id_column) end
      and not a.attisdropped
    where k.surface_kind = may_view.surface_kind
  loop
    execute looking into is_there using may_view.surface_id;
    if is_there then
      return true;
    end if;
  end loop;
  return null;
end
$$
$default$);

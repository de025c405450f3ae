-- Events beyond messages: a claimed request, an answered question, whatever else a host's tables say. A kind is a row of
-- tacet.kinds and two triggers, made by tacet.watch.
--
-- Locks: new objects; ADD COLUMN takes ACCESS EXCLUSIVE on tacet.trigger_failures for an instant and rewrites nothing.
-- tacet.watch takes SHARE ROW EXCLUSIVE on the watched table for an instant.

-- source: the table whose rows are the events' subjects. update_column: the change of which makes the event; null when the
-- insert does. condition: over new, and old for an update. recipients: a function of the subject's id. surface_column:
-- holds the id of what users look at; null when they look at the row itself. surface_table: where that must still be;
-- null when nobody asks. placeholders: the columns that the templates name.
create table if not exists tacet.kinds (
  watched_at timestamptz not null default now(),
  source regclass not null,
  surface_table regclass,
  kind text primary key check (kind ~ '^[a-z][a-z0-9_]{0,62}$'),
  surface_kind text not null check (surface_kind ~ '^[a-z][a-z0-9_]{0,62}$'),
  id_column name not null,
  update_column name,
  actor_column name,
  surface_column name,
  recipients text not null,
  condition text not null,
  title text not null check (title <> ''),
  body text not null,
  unnamed_actor text not null,
  placeholders name[] not null
);

-- Triggers run the condition with their owner's rights: none but the owner may say what it is, whatever else is granted.
alter table tacet.kinds enable row level security;

do $$
begin
  if not exists (
    select from pg_policies where schemaname = 'tacet' and tablename = 'kinds' and policyname = 'kinds_are_read'
  ) then
    create policy kinds_are_read on tacet.kinds for select using (true);
  end if;
end
$$;

-- kind: of the events that could not be written to the inbox.
alter table tacet.trigger_failures add column if not exists kind text not null default 'message';

-- Part of the host contract: a user's name as it is shown to others; null when there is none.
set check_function_bodies = off;

create or replace function tacet.profile_name(user_id uuid)
returns text
language sql stable
as $$
  select p.name from public.profiles p where p.id = profile_name.user_id
$$;

reset check_function_bodies;

do $$
begin
  perform tacet.profile_name(null);
exception
  when others then
    create or replace function tacet.profile_name(user_id uuid)
    returns text
    language sql stable
    as 'select null::text';
    raise notice 'tacet: the host tables differ from the default (%); replace tacet.profile_name', sqlerrm;
end
$$;

-- Part of the host contract: whether a user may report looking at a surface; null when there is no such surface.
--
-- Everybody may at what is there, for a watched kind: what a user reports holds back pushes to that user and nobody else.
-- A surface is there when its table has it; without one, when a row says that it concerns it, which an index of the host's
-- on that column tells fast. A kind whose table or column is gone has none. It takes the place of 0009's default alone: a host's
-- own stays.
do $do$
begin
  if coalesce(
    (select p.prosrc from pg_proc p where p.oid = to_regprocedure('tacet.may_view(text, uuid, uuid)')), 'select null::boolean'
  ) = 'select null::boolean' then
    create or replace function tacet.may_view(surface_kind text, surface_id uuid, user_id uuid)
    returns boolean
    language plpgsql stable
    set search_path = pg_catalog, pg_temp
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
    $$;
  end if;
end
$do$;

-- A template with its {names} replaced, at most 4096 characters. One pass: what is put in is not looked at again. A name
-- without a value leaves nothing; a brace that begins no name is itself.
create or replace function tacet.fill_template(template text, named jsonb)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select left(
    coalesce(
      string_agg(
        case when t.part[1] is null then t.part[2] else coalesce(named ->> t.part[1], '') end, '' order by t.place),
      ''),
    4096)
  from regexp_matches(template, '\{([^{}]+)\}|([^{]+|\{)', 'g') with ordinality as t (part, place)
$$;

-- What the rules and the composer need of one event of a watched kind, as tacet.message_context of a message; no row when
-- its subject or its surface is gone, or nobody watches the kind any more.
create or replace function tacet.watched_context(kind text, subject_id uuid)
returns table (
  conversation_id uuid,
  sender_id uuid,
  sender_name text,
  body text,
  title text,
  surface_kind text
)
language plpgsql stable rows 1
set search_path = pg_catalog, pg_temp
as $$
declare
  watched tacet.kinds;
  named text;
begin
  select k.* into watched from tacet.kinds k where k.kind = watched_context.kind;
  if not found then
    return;
  end if;
  select coalesce(string_agg(format('%L, left(s.%I::text, 4096)', p.name, p.name), ', '), '') into named
  from unnest(watched.placeholders) as p (name);
  return query execute format(
    $query$
      select
        e.surface_id, e.actor_id, a.name, tacet.fill_template($2, v.named), tacet.fill_template($3, v.named), $4
      from (
        select
          coalesce(s.%1$I, s.%2$I) as surface_id, %3$s as actor_id, jsonb_build_object(%4$s) as named
        from %5$s s
        where s.%2$I = $1
      ) e
      cross join lateral (select case when e.actor_id is not null then tacet.profile_name(e.actor_id) end) a (name)
      cross join lateral (
        select case when $6 then e.named || jsonb_build_object('actor', coalesce(nullif(a.name, ''), $5)) else e.named end
      ) v (named)
      where %6$s
    $query$,
    coalesce(watched.surface_column, watched.id_column), watched.id_column,
    case when watched.actor_column is null then 'null::uuid' else format('s.%I', watched.actor_column) end,
    named, watched.source,
    case
      when watched.surface_table is null then 'true'
      else format('exists (select from %s t where t.id = e.surface_id)', watched.surface_table)
    end)
  using
    subject_id, watched.body, watched.title, watched.surface_kind, watched.unnamed_actor,
    watched.actor_column is not null;
end
$$;

-- Who is told of an event of a watched kind, and when each was last seen looking at its surface; everybody once.
create or replace function tacet.watched_by(kind text, subject_id uuid, surface_id uuid)
returns table (user_id uuid, last_seen timestamptz, left_at timestamptz)
language plpgsql stable rows 10
set search_path = pg_catalog, pg_temp
as $$
declare
  watched tacet.kinds;
begin
  select k.* into watched from tacet.kinds k where k.kind = watched_by.kind;
  if not found or watched_by.surface_id is null then
    return;
  end if;
  return query execute format(
    $query$
      select r.user_id, v.last_seen, v.left_at
      from (select distinct f.user_id from %s($1) as f (user_id)) r
      left join tacet.surface_views v
        on v.user_id = r.user_id and v.surface_kind = $2 and v.surface_id = $3
      where r.user_id is not null
    $query$,
    watched.recipients)
  using watched_by.subject_id, watched.surface_kind, watched_by.surface_id;
end
$$;

-- Counts an error that kept events of a kind from the inbox, with their ids: the service enqueues them when it can.
create or replace function tacet.count_missed_events(
  failed_kind text, failed_state text, failed_message text, failed_subject_ids uuid[]
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into tacet.trigger_failures (kind, sqlstate, message, subject_ids)
  values (failed_kind, failed_state, failed_message, coalesce(failed_subject_ids, '{}'));
exception
  when query_canceled or others then
    raise warning 'tacet: % (%)', failed_message, failed_state;
end
$$;

-- The trigger on a watched table; its argument is the kind. It fires once per statement, also for updates: fired for each
-- row it would wait for a lock as often. Rows of an update whose column did not change make no event.
--
-- It serves its kind's own table alone: a role that may make triggers with it could else have the condition run, with its
-- owner's rights, over columns of types and casts of its own making.
--
-- As careful as the one on messages: it never fails the host's statement, the condition's own errors included, and waits
-- for no lock longer than 50 ms. A wake-up that fails takes the inbox rows with it, so they are then written once more,
-- alone; only if that fails too are they left for the service to find in tacet.trigger_failures.
create or replace function tacet.enqueue_watched()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
declare
  watched tacet.kinds;
  is_wanted boolean;
  subjects uuid[];
  surfaces uuid[];
  failed_state text;
  failed_message text;
begin
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

-- The other trigger on a watched table: what is held about a row that is deleted is looked at again, and recorded so.
create or replace function tacet.release_unwatched()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
set enable_seqscan = off
set jit = off
as $$
declare
  watched tacet.kinds;
  subjects uuid[];
  users uuid[];
begin
  select k.* into watched from tacet.kinds k where k.kind = tg_argv[0] and k.source = tg_relid;
  if not found then
    return null;
  end if;
  execute format(
    'select array_agg(d.subject_id), array_agg(d.user_id) '
    'from previous o join tacet.deliveries d on d.subject_id = o.%I where d.state = ''held'' and d.kind = $1',
    watched.id_column)
  into subjects, users
  using watched.kind;
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

-- The name of a kind's trigger, within the 63 bytes of a name and different for different kinds.
create or replace function tacet.watch_trigger_name(kind text, what text)
returns name
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select
    ('tacet_' || what || '_' || case when length(kind) <= 40 then kind else left(kind, 27) || '_' || left(md5(kind), 12) end)::name
$$;

-- Removes a kind's triggers from a table, which is locked for that: nobody reads it meanwhile.
create or replace function tacet.drop_watch_triggers(kind text, source regclass)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  what text;
begin
  if exists (select from pg_class c where c.oid = source) then
    foreach what in array array['happened', 'deleted'] loop
      execute format('drop trigger if exists %I on %s', tacet.watch_trigger_name(kind, what), source);
    end loop;
  end if;
end
$$;

-- Stops watching: new events are not noticed, and what is still under way is recorded as deleted. When the table is busy
-- for longer than a second it fails and has changed nothing: call it again.
-- Returns whether the kind was watched.
create or replace function tacet.unwatch(kind text)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '1s'
as $$
declare
  former_source regclass;
begin
  delete from tacet.kinds k where k.kind = unwatch.kind returning k.source into former_source;
  if not found then
    return false;
  end if;
  perform tacet.drop_watch_triggers(kind, former_source);
  return true;
end
$$;

-- Makes the events of a host's table pushes. Whoever calls it owns this schema, and may make triggers on the table. Calling
-- it again replaces what was there. When the table is busy for longer than a second it fails and has changed nothing.
--
-- kind: names the events, in the ledger, in the payload's `type` and in the path of webhooks.
-- source: the table; its id_column is a uuid that no two rows share, and each row makes one event of the kind at most.
-- recipients: a function (subject_id uuid) returns setof uuid: who is told. It runs with search_path pg_catalog, so it
--   qualifies what it names, or sets a search_path of its own.
-- title, body: with {column} for a column of the row, and {actor} for the actor's name.
-- fires_on: 'insert', or 'update of <column>' for a change of that column.
-- condition: SQL over new, and old for an update; the same search_path. The default is every such row.
-- actor: the column that says who did it; is told nothing. unnamed_actor: what {actor} is for a user without a name.
-- surface: the column that says what users look at; the row itself by default. surface_kind: as the app reports views of
--   it, by default the kind. surface_table: the table whose id that is; then a push is not sent when it is gone there.
create or replace function tacet.watch(
  kind text,
  source regclass,
  recipients regproc,
  title text,
  body text default '',
  fires_on text default 'insert',
  condition text default 'true',
  actor name default null,
  surface name default null,
  surface_kind text default null,
  surface_table regclass default null,
  id_column name default 'id',
  unnamed_actor text default 'Someone'
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '1s'
as $$
#variable_conflict use_variable
declare
  update_column name := (regexp_match(fires_on, '^update of (.+)$'))[1];
  named name[];
  column_name name;
  former_source regclass;
begin
  if kind is null or kind !~ '^[a-z][a-z0-9_]{0,62}$' or kind in ('message', 'messages', 'push', 'pushes', 'read_sync') then
    raise exception 'tacet: % cannot be a kind: a small letter, then up to 62 small letters, digits and underscores, '
      'and none of Tacet''s own kinds', coalesce(quote_literal(kind), 'null') using errcode = '22023';
  end if;
  surface_kind := coalesce(surface_kind, kind);
  if surface_kind !~ '^[a-z][a-z0-9_]{0,62}$' or surface_kind = 'conversation' then
    raise exception 'tacet: % cannot be a surface kind', quote_literal(surface_kind) using errcode = '22023';
  end if;
  if fires_on is distinct from 'insert' and update_column is null then
    raise exception 'tacet: fires_on is insert or update of <column>, not %', fires_on using errcode = '22023';
  end if;
  if not exists (
    select from pg_proc p
    where p.oid = recipients and p.proretset and p.prorettype = 'uuid'::regtype and p.pronargs = 1
      and p.proargtypes[0] = 'uuid'::regtype
  ) then
    raise exception 'tacet: % is not a function (uuid) returns setof uuid', recipients using errcode = '42883';
  end if;
  for column_name in
    select c.name
    from (values (id_column, 'uuid'), (actor, 'uuid'), (surface, 'uuid'), (update_column, null)) as c (name, type)
    where c.name is not null and not exists (
      select from pg_attribute a
      where a.attrelid = source and a.attname = c.name and a.attnum > 0 and not a.attisdropped
        and (c.type is null or a.atttypid = c.type::regtype))
  loop
    raise exception 'tacet: % has no column % of the type needed', source, column_name using errcode = '42703';
  end loop;
  select coalesce(array_agg(distinct t.part[1]::name), '{}') into named
  from regexp_matches(title || ' ' || body, '\{([^{}]+)\}', 'g') as t (part)
  where actor is null or t.part[1] <> 'actor';
  for column_name in
    select n.name
    from unnest(named) as n (name)
    where not exists (
      select from pg_attribute a
      where a.attrelid = source and a.attname = n.name and a.attnum > 0 and not a.attisdropped)
  loop
    raise exception 'tacet: {%} names no column of %', column_name, source using errcode = '42703';
  end loop;

  delete from tacet.kinds k where k.kind = watch.kind returning k.source into former_source;
  if former_source <> source then
    perform tacet.drop_watch_triggers(kind, former_source);
  end if;
  insert into tacet.kinds (
    kind, source, id_column, update_column, condition, recipients, actor_column, surface_kind, surface_column,
    surface_table, title, body, unnamed_actor, placeholders
  )
  select
    kind, source, id_column, update_column, format('(%s)', condition), format('%I.%I', n.nspname, p.proname), actor,
    surface_kind, surface, surface_table, title, coalesce(body, ''), unnamed_actor, named
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  where p.oid = recipients;

  -- Everything that is only text so far is run once, so that what is wrong with it is said now: no row has this id.
  execute format(
    'select from %1$s new %2$s where false and (%3$s)', source,
    case when update_column is not null then
      format('join %1$s old on old.%2$I = new.%2$I and old.%3$I is distinct from new.%3$I', source, id_column, update_column)
    end,
    condition);
  perform from tacet.watched_context(kind, '00000000-0000-0000-0000-000000000000');
  perform from tacet.watched_by(
    kind, '00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000000');

  execute format(
    'create or replace trigger %I after %s on %s referencing %s new table as changed '
    'for each statement execute function tacet.enqueue_watched(%L)',
    tacet.watch_trigger_name(kind, 'happened'), case when update_column is null then 'insert' else 'update' end, source,
    case when update_column is not null then 'old table as previous' end, kind);
  execute format(
    'create or replace trigger %I after delete on %s referencing old table as previous '
    'for each statement execute function tacet.release_unwatched(%L)',
    tacet.watch_trigger_name(kind, 'deleted'), source, kind);
end
$$;

revoke all on all functions in schema tacet from public;

insert into tacet.migrations (version, name) values (11, '0011_kinds') on conflict do nothing;

-- Watching a table of the host: tacet.watch and tacet.unwatch.

-- Raises an error for a member that no push has, and for a value of the wrong type.
create or replace function tacet.check_presentation(presentation jsonb)
returns void
language plpgsql immutable
as $$
declare
  fault text;
begin
  if jsonb_typeof(presentation) is distinct from 'object' then
    raise exception 'tacet: presentation is an object of JSON' using errcode = '22023';
  end if;
  select m.name into fault
  from jsonb_each(presentation) as m (name, value)
  left join (
    values
      ('subtitle', 'string'), ('category', 'string'), ('sound', 'string'), ('interruption_level', 'string'),
      ('thread_id', 'string'), ('relevance_score', 'number'), ('image_url', 'string'), ('image_key', 'string'), ('badge', 'number'),
      ('collapse_id', 'string'), ('title_loc_key', 'string'), ('title_loc_args', 'array'), ('subtitle_loc_key', 'string'),
      ('subtitle_loc_args', 'array'), ('loc_key', 'string'), ('loc_args', 'array')
  ) as k (name, type) on k.name = m.name
  where k.type is distinct from jsonb_typeof(m.value)
  limit 1;
  if found then
    raise exception 'tacet: presentation cannot have this member %', quote_literal(fault) using errcode = '22023';
  end if;
  select m.name into fault
  from jsonb_each(presentation) as m (name, value)
  where jsonb_typeof(m.value) = 'array' and (
    jsonb_array_length(m.value) > 20 or exists (
      select from jsonb_array_elements(m.value) as e (value) where jsonb_typeof(e.value) <> 'string'))
  limit 1;
  if found then
    raise exception 'tacet: % is a list of 20 texts at most', fault using errcode = '22023';
  end if;
  if presentation ->> 'interruption_level' not in ('passive', 'active', 'time-sensitive', 'critical') then
    raise exception 'tacet: interruption_level is passive, active, time-sensitive or critical' using errcode = '22023';
  end if;
end
$$;

-- Raises an error for a composer that is none: {"task": "Congratulate a person.", "facts": ["name"], "seconds": 2}. facts: columns.
create or replace function tacet.check_composer(composer jsonb)
returns void
language plpgsql immutable
as $$
begin
  if (
    jsonb_typeof(composer) = 'object' and composer - '{task,facts,seconds}'::text[] = '{}'
      and jsonb_typeof(composer -> 'task') = 'string' and composer ->> 'task' ~ '^[^[:cntrl:]]+$'
      and char_length(composer ->> 'task') <= 1000
      and jsonb_typeof(coalesce(composer -> 'facts', '[]')) = 'array'
      and jsonb_array_length(coalesce(composer -> 'facts', '[]')) <= 16
      and coalesce(composer -> 'seconds', '2') between '0.1' and '10'
      and not exists (
        select from jsonb_array_elements(coalesce(composer -> 'facts', '[]')) as f (name)
        where jsonb_typeof(f.name) <> 'string' or f.name #>> '{}' !~ '^[a-z0-9_]{1,63}$')
  ) is not true then
    raise exception 'tacet: composer is {"task": a line of 1000 characters, "facts": at most 16 columns, "seconds": 0.1 to 10}'
      using errcode = '22023';
  end if;
end
$$;

-- Turns events of a host's table into pushes; db/examples/claimed_request.sql describes the arguments. The caller owns this
-- schema and may make triggers on the table. A second call replaces the first. When the table is locked for more than a second, it fails
-- and changes nothing.
--
-- kind: names the events, in the ledger, in the payload's `type` and in the path of webhooks. id_column: a unique id; each row makes
-- at most one event of the kind. recipients: where subjects are text, the function may also take the id's type. unnamed_actor: {actor}
-- for a user without a name. surface_kind: by default the kind. surface_table: a push is not sent when its surface is gone there.
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
  unnamed_actor text default 'Someone',
  presentation jsonb default '{}',
  send_at name default null,
  expires_in interval default null,
  cancel_key text default null,
  composer jsonb default null
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
  perform tacet.check_presentation(presentation);
  if composer is not null then
    perform tacet.check_composer(composer);
  end if;
  if expires_in is not null and expires_in not between interval '1 second' and interval '30 days' then
    raise exception 'tacet: expires_in is one second to 30 days, not %', expires_in using errcode = '22023';
  end if;
  if not exists (
    select from pg_proc p
    where p.oid = recipients and p.proretset and p.pronargs = 1 and tacet.holds_ids(p.prorettype, 'tacet.user_id')
      and tacet.holds_ids(p.proargtypes[0], 'tacet.subject_id', takes_any => true)
  ) then
    raise exception 'tacet: % is not a function (tacet.subject_id) returns setof tacet.user_id', recipients using errcode = '42883';
  end if;
  for column_name in
    select c.name
    from (
      values
        (id_column, 'tacet.subject_id', true), (actor, 'tacet.user_id', false),
        (id_column, 'tacet.conversation_id', true), (surface, 'tacet.conversation_id', true), (update_column, null, null),
        (send_at, 'timestamptz', null)
    ) as c (name, type, takes_any)
    where c.name is not null and not exists (
      select from pg_attribute a
      where a.attrelid = source and a.attname = c.name and a.attnum > 0 and not a.attisdropped
        and case
          when c.takes_any is null then c.type is null or a.atttypid = c.type::regtype
          else tacet.holds_ids(a.atttypid, c.type::regtype, c.takes_any)
        end)
  loop
    raise exception 'tacet: % has no column % of the type needed', source, column_name using errcode = '42703';
  end loop;
  select coalesce(array_agg(n.name order by n.name), '{}') into named
  from (
    select t.part[1]::name
    from regexp_matches(
      concat_ws(' ', title, body, cancel_key, (select string_agg(m.value, ' ') from jsonb_each_text(presentation) m)),
      '\{([^{}]+)\}', 'g') as t (part)
    where actor is null or t.part[1] <> 'actor'
    union
    select f::name from jsonb_array_elements_text(composer -> 'facts') f
  ) as n (name);
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
    surface_table, title, body, unnamed_actor, placeholders, presentation, send_at_column, expires_in, cancel_key,
    composer
  )
  select
    kind, source, id_column, update_column, format('(%s)', condition), format('%I.%I', n.nspname, p.proname), actor,
    surface_kind, surface, surface_table, title, coalesce(body, ''), unnamed_actor, named,
    presentation, send_at, expires_in, cancel_key, composer
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  where p.oid = recipients;

  -- Runs every text once, with an id that no row has, so that its errors are reported now.
  execute format(
    'select from %1$s new %2$s where false and (%3$s)', source,
    case when update_column is not null then
      format('join %1$s old on old.%2$I = new.%2$I and old.%3$I is distinct from new.%3$I', source, id_column, update_column)
    end,
    condition);
  perform from tacet.watched_row_content(kind, tacet.unused_id('tacet.subject_id')::tacet.subject_id);
  perform from tacet.watched_row_audience(
    kind, tacet.unused_id('tacet.subject_id')::tacet.subject_id,
    tacet.unused_id('tacet.conversation_id')::tacet.conversation_id);

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

-- Stops watching: no new events, and what is under way is recorded as deleted. When the table is locked for more than a
-- second, it fails and changes nothing; call it again. Returns whether the kind was watched.
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

-- Drops a kind's triggers. Locks the table against readers meanwhile.
create or replace function tacet.drop_watch_triggers(kind text, source regclass, happenings text[] default '{happened,deleted}')
returns void
language plpgsql volatile
as $$
declare
  what text;
begin
  if exists (select from pg_class c where c.oid = source) then
    foreach what in array happenings loop
      execute format('drop trigger if exists %I on %s', tacet.watch_trigger_name(kind, what), source);
    end loop;
  end if;
end
$$;

-- The name of a kind's trigger: at most 63 bytes, and different for different kinds.
create or replace function tacet.watch_trigger_name(kind text, what text)
returns name
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select
    ('tacet_' || what || '_' || case when length(kind) <= 40 then kind else left(kind, 27) || '_' || left(md5(kind), 12) end)::name
$$;

-- Watching a table of the host whose rows are Live Activities: tacet.watch_activity and tacet.unwatch_activity.

set check_function_bodies = off;

-- Makes each row of a table a Live Activity: an insert starts it on the user's devices, an update that changes a field pushes the new
-- state, and it ends when the condition is true or the row is deleted. Its id is the type, a colon and the row's id.
--
-- type: of tacet.activity_types; a type has one table. fields: an object with SQL over new for each field of attributes and state; dates
-- as timestamptz. A field that is left out has the type's default. ended_when: SQL over new. Expressions run with search_path
-- pg_catalog, so they qualify names.
create or replace function tacet.watch_activity(
  type text, source regclass, user_column name, fields jsonb, ended_when text default 'false', id_column name default 'id'
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '1s'
as $$
#variable_conflict use_variable
declare
  declared tacet.activity_types;
  stranger text;
  reader regrole;
  watched tacet.watched_activities;
  happening text;
begin
  select t.* into declared from tacet.activity_types t where t.name = type;
  if not found then
    raise exception 'tacet: there is no type % in tacet.activity_types', quote_nullable(type) using errcode = '22023';
  end if;
  select f.name into stranger
  from jsonb_each(fields) as f (name, value)
  where not (declared.attributes || declared.state) ? f.name or jsonb_typeof(f.value) <> 'string'
  limit 1;
  if found then
    raise exception 'tacet: % is no field of %, or its expression is no text', quote_literal(stranger), type using errcode = '22023';
  end if;
  if not exists (
    select from pg_attribute a
    where a.attrelid = source and a.attname = id_column and not a.attisdropped
      and tacet.holds_ids(a.atttypid, 'tacet.subject_id', takes_any => true))
    or not exists (
      select from pg_attribute a
      where a.attrelid = source and a.attname = user_column and not a.attisdropped and tacet.holds_ids(a.atttypid, 'tacet.user_id'))
  then
    raise exception 'tacet: % needs a column % with an id, and % with a user''s', source, id_column, user_column using errcode = '42703';
  end if;
  select p.proowner::regrole into strict reader from pg_proc p where p.oid = 'tacet.follow_rows()'::regprocedure;
  if not has_table_privilege(reader, source, 'select') then
    raise exception 'tacet: the role %, with whose rights the triggers run, may not select from %', reader, source
      using errcode = '42501', hint = format('grant select on %s to %s', source, reader);
  end if;
  perform tacet.unwatch_activity(type);
  insert into tacet.watched_activities (type, source, id_column, user_column, fields, ended_when)
  values (type, source, id_column, user_column, fields, ended_when)
  returning * into watched;
  -- Runs every text once, with an id that no row has, so that its errors are reported now.
  perform tacet.follow_row(watched, tacet.unused_id('tacet.subject_id')::tacet.subject_id);
  foreach happening in array array['insert', 'update', 'delete'] loop
    execute format(
      'create or replace trigger %I after %s on %s referencing %s for each statement execute function tacet.follow_rows(%L)',
      tacet.watch_trigger_name(lower(type), 'activity_' || happening), happening, source,
      case happening when 'delete' then 'old table as changed' else 'new table as changed' end, type);
  end loop;
end
$$;

-- Stops watching a type's table. What runs is left as it is. Returns whether it was watched.
create or replace function tacet.unwatch_activity(type text)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '1s'
as $$
declare
  former regclass;
begin
  delete from tacet.watched_activities w where w.type = unwatch_activity.type returning w.source into former;
  if not found then
    return false;
  end if;
  perform tacet.drop_watch_triggers(
    lower(unwatch_activity.type), former, '{activity_insert,activity_update,activity_delete}');
  return true;
end
$$;

-- The triggers on a watched table; their argument is the type. They cannot fail the host's statement, and obey tacet.skip. A row whose
-- activity could not follow is looked at again within some ten seconds, unless what it says fits no activity.
create or replace function tacet.follow_rows()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '400ms'
as $$
declare
  watched tacet.watched_activities;
  subjects tacet.subject_id[];
  subject tacet.subject_id;
begin
  if current_setting('tacet.skip', true) = 'on' then
    return null;
  end if;
  begin
    select w.* into watched from tacet.watched_activities w where w.type = tg_argv[0] and w.source = tg_relid;
    if not found then
      return null;
    end if;
    execute format('select array_agg(c.%1$I::tacet.subject_id order by c.%1$I) from changed c', watched.id_column) into subjects;
  exception
    when query_canceled or others then
      perform tacet.count_missed_events('activity:' || tg_argv[0], sqlstate, sqlerrm, '{}');
      return null;
  end;
  foreach subject in array coalesce(subjects, '{}') loop
    begin
      perform tacet.follow_row(watched, subject);
    exception
      when query_canceled or others then
        perform tacet.count_missed_events(
          'activity:' || tg_argv[0], sqlstate, sqlerrm, case when sqlstate not like '22%' then array[subject] end);
    end;
  end loop;
  return null;
end
$$;

-- Makes a row's activity what the row says.
create or replace function tacet.follow_row(watched tacet.watched_activities, subject_id tacet.subject_id)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  activity_id text := watched.type || ':' || subject_id;
  declared tacet.activity_types;
  running tacet.activities;
  owner tacet.user_id;
  is_over boolean;
  given_attributes jsonb;
  given_state jsonb;
begin
  select t.* into strict declared from tacet.activity_types t where t.name = watched.type;
  execute format(
    'select new.%I::tacet.user_id, (%s), jsonb_build_object(%s), jsonb_build_object(%s) from %s new where new.%I = %s',
    watched.user_column, watched.ended_when, tacet.field_expressions(watched.fields, declared.attributes),
    tacet.field_expressions(watched.fields, declared.state), watched.source, watched.id_column,
    tacet.typed_subject('$1', watched.source, watched.id_column))
  into owner, is_over, given_attributes, given_state
  using subject_id;
  if given_state is null then
    perform tacet.end_live_activity(activity_id, null, null, 'row_deleted');
    return;
  end if;
  given_state := declared.first_state || given_state;
  select a.* into running from tacet.activities a where a.id = activity_id for update;
  if not found then
    if owner is not null and is_over is not true then
      perform tacet.start_live_activity(
        activity_id, owner, watched.type, jsonb_strip_nulls(given_attributes), given_state, null, true);
    end if;
  elsif is_over then
    perform tacet.end_live_activity(activity_id, given_state || declared.end_state, null, 'row');
  elsif running.ended_at is null and given_state is distinct from running.source_state then
    running.source_state := given_state;
    perform tacet.change_live_activity(running, declared, given_state, null, null, null);
    return;
  end if;
  update tacet.activities a set source_state = given_state where a.id = activity_id and a.source_state is distinct from given_state;
end
$$;

-- The arguments of jsonb_build_object for those fields that have an expression.
create or replace function tacet.field_expressions(fields jsonb, declared jsonb)
returns text
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(
      string_agg(
        format(
          case when rtrim(d.type, '?') = 'date' then '%L, to_char((%s)::timestamptz at time zone ''UTC'', ''YYYY-MM-DD"T"HH24:MI:SS.US"Z"'')' else '%L, (%s)' end,
          d.name, fields ->> d.name), ', '),
      '')
    from jsonb_each_text(declared) as d (name, type)
    where fields ? d.name);
end
$$;

reset check_function_bodies;

-- Watching a table of the host whose rows are Live Activities: tacet.watch_activity and tacet.unwatch_activity.

-- Makes each row of a table a Live Activity; db/examples/delivery_activity.sql shows how. A type has one table. Expressions run with
-- search_path pg_catalog.
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
      case happening
        when 'insert' then 'new table as changed'
        when 'update' then 'old table as previous new table as changed'
        else 'old table as previous'
      end, type);
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

-- The triggers on a watched table; their argument is the type. They queue the rows that are new, deleted, or say something else than
-- before, each statement's at once, and leave the rest to the service: what they cost does not depend on the Live Activities. They cannot
-- fail the host's statement, and obey tacet.skip. A statement that is cancelled stays cancelled.
--
-- An update counts where the user, the end or a field of the state has changed. Where an expression selects from tables, any change of
-- the row counts.
create or replace function tacet.follow_rows()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '400ms'
as $$
declare
  watched tacet.watched_activities;
  said text;
  subjects tacet.subject_id[];
  failed_state text;
  failed_message text;
begin
  if current_setting('tacet.skip', true) = 'on' then
    return null;
  end if;
  select w.* into watched from tacet.watched_activities w where w.type = tg_argv[0] and w.source = tg_relid;
  if not found then
    return null;
  end if;
  begin
    if tg_op = 'UPDATE' then
      select
        case
          when watched.ended_when ~* '\mselect\M' or exists (
            select from jsonb_each_text(watched.fields) as f (name, expression) where f.expression ~* '\mselect\M')
            then 'to_jsonb(new)'
          else
            format(
              'jsonb_build_array(new.%I, (%s), jsonb_build_object(%s))', watched.user_column, watched.ended_when,
              tacet.field_expressions(watched.fields, t.state))
        end
      into strict said
      from tacet.activity_types t
      where t.name = watched.type;
      execute format(
        'select array_agg(distinct s.id) from ('
        '(select new.%1$I::tacet.subject_id as id, %2$s as said from changed new '
        'except all select new.%1$I::tacet.subject_id, %2$s from previous new) '
        'union all (select new.%1$I::tacet.subject_id, null::jsonb from previous new '
        'except all select new.%1$I::tacet.subject_id, null::jsonb from changed new)) s',
        watched.id_column, said)
      into subjects;
    else
      execute format(
        'select array_agg(c.%I::tacet.subject_id) from %s c', watched.id_column,
        case tg_op when 'DELETE' then 'previous' else 'changed' end)
      into subjects;
    end if;
    perform tacet.queue_changed_rows(watched.type, subjects);
  exception
    when others then
      failed_state := sqlstate;
      failed_message := sqlerrm;
      -- What cannot be compared is queued: the service finds which rows are at fault.
      begin
        execute format(
          'select array_agg(c.%I::tacet.subject_id) from %s c', watched.id_column,
          case tg_op when 'DELETE' then 'previous' else 'changed' end)
        into subjects;
        perform tacet.queue_changed_rows(watched.type, subjects);
      exception
        when others then
          perform tacet.count_missed_events('activity:' || tg_argv[0], failed_state, failed_message, subjects);
      end;
  end;
  return null;
end
$$;

-- Queues rows whose Live Activities are to follow them, and wakes the service.
create or replace function tacet.queue_changed_rows(type text, subjects tacet.subject_id[])
returns void
language plpgsql volatile
as $$
begin
  if subjects is not null then
    insert into tacet.changed_rows (type, subject_id) select queue_changed_rows.type, s.id from unnest(subjects) as s (id);
    perform tacet.wake(null);
  end if;
end
$$;

-- Lets the Live Activities of queued rows follow them, the longest queued first. Returns how many entries were taken from the queue.
--
-- Rows are followed in one order, so that two services do not wait for each other. One that another transaction keeps is followed later.
create or replace function tacet.follow_changed_rows(rows_max int)
returns bigint
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '400ms'
as $$
declare
  taken bigint;
  types text[];
  subjects tacet.subject_id[];
begin
  with gone as (
    delete from tacet.changed_rows c
    where c.id = any (array(select x.id from tacet.changed_rows x order by x.id limit rows_max for update skip locked))
    returning c.type, c.subject_id
  )
  select count(*), array_agg(g.type), array_agg(g.subject_id) into taken, types, subjects from gone g;
  perform tacet.surely_follow_row(r.type, r.subject_id)
  from (
    select distinct c.type, c.subject_id from unnest(types, subjects) as c (type, subject_id) order by c.type, c.subject_id
  ) r;
  return taken;
end
$$;

-- Follows a row of a type's table, or counts why it could not. It is looked at again within some ten seconds, unless what it says fits no
-- activity.
create or replace function tacet.surely_follow_row(type text, subject_id tacet.subject_id)
returns void
language plpgsql volatile
as $$
declare
  watched tacet.watched_activities;
  word text;
begin
  select w.* into watched from tacet.watched_activities w where w.type = surely_follow_row.type;
  if not found then
    return;
  end if;
  word := tacet.follow_row(watched, subject_id);
  if word like 'refused:%' or word = 'taken' then
    perform tacet.count_missed_events('activity:' || watched.type, '22023', word, '{}');
  end if;
exception
  when others then
    perform tacet.count_missed_events(
      'activity:' || surely_follow_row.type, sqlstate, sqlerrm, case when sqlstate not like '22%' then array[subject_id] end);
end
$$;

-- Makes a row's activity what the row says. Returns what became of it, as tacet.start_live_activity and the others do.
--
-- The activity is locked before the row is read: of two that follow one row, the later one reads what the earlier has read, or newer. A
-- row that has another user than its activity ends it there, and starts one for its own user.
create or replace function tacet.follow_row(watched tacet.watched_activities, subject_id tacet.subject_id)
returns text
language plpgsql volatile
as $$
declare
  activity_id text := watched.type || ':' || subject_id;
  declared tacet.activity_types;
  running tacet.activities;
  owner tacet.user_id;
  is_over boolean;
  given_attributes jsonb;
  given_state jsonb;
  word text;
begin
  select t.* into strict declared from tacet.activity_types t where t.name = watched.type;
  perform pg_advisory_xact_lock(tacet.lock_of('activity ' || activity_id));
  select a.* into running from tacet.activities a where a.id = activity_id for update;
  execute format(
    'select new.%I::tacet.user_id, (%s), jsonb_build_object(%s), jsonb_build_object(%s) from %s new where new.%I = %s',
    watched.user_column, watched.ended_when, tacet.field_expressions(watched.fields, declared.attributes),
    tacet.field_expressions(watched.fields, declared.state), watched.source, watched.id_column,
    tacet.typed_subject('$1', watched.source, watched.id_column))
  into owner, is_over, given_attributes, given_state
  using subject_id;
  if given_state is null then
    return tacet.end_live_activity(activity_id, null, null, 'row_deleted');
  end if;
  given_state := declared.first_state || given_state;
  if running.id is not null and (running.is_announced or running.type <> watched.type) then
    return 'taken';
  end if;
  if running.id is not null and running.user_id is distinct from owner then
    -- It gives up its id, so that the row's new user can have one.
    if running.ended_at is null then
      perform tacet.surely_end_live_activity(running.id, 'row_reassigned');
    end if;
    update tacet.activities a set id = running.id || ' ' || gen_random_uuid() where a.id = running.id;
    running := null;
  end if;
  if running.id is null then
    if owner is null or is_over is true then
      return 'unknown';
    end if;
    word := tacet.start_live_activity(activity_id, owner, watched.type, jsonb_strip_nulls(given_attributes), given_state, null, true);
  elsif is_over then
    word := tacet.end_live_activity(activity_id, given_state || declared.end_state, null, 'row');
  elsif running.ended_at is null and given_state is distinct from running.source_state then
    running.source_state := given_state;
    return tacet.change_live_activity(running, declared, given_state, null, null, null);
  end if;
  update tacet.activities a set source_state = given_state where a.id = activity_id and a.source_state is distinct from given_state;
  return word;
end
$$;

-- The arguments of jsonb_build_object for those fields that have an expression.
create or replace function tacet.field_expressions(fields jsonb, declared jsonb)
returns text
language plpgsql immutable
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

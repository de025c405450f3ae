-- Ids of the host and of Tacet.
--
-- In the files of db, tacet.message_id, tacet.conversation_id and tacet.user_id are the types of the host's ids, and
-- tacet.subject_id is the type of what an event is about: uuid where all of these are, and otherwise text. tacet migrate writes
-- uuid, bigint or text in their place. So there are no such types in a database, and functions of the host have the plain ones.

-- A text as a uuid; null when it has another form than the server prints.
create or replace function tacet.uuid_of(id text)
returns uuid
language sql immutable parallel safe
as $$
  select case when id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then id::uuid end
$$;

-- A text as a bigint; null when it has another form than the server prints, or does not fit.
create or replace function tacet.bigint_of(id text)
returns bigint
language sql immutable parallel safe
as $$
  select case when id ~ '^(0|-?[1-9][0-9]{0,18})$' then
    case when id::numeric between -9223372036854775808 and 9223372036854775807 then id::bigint end
  end
$$;

-- Whether a column of a type holds ids of another: every integer is a bigint, and characters are text. With takes_any, text also
-- takes uuids and integers.
create or replace function tacet.holds_ids(type regtype, ids regtype, takes_any boolean default false)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case ids
    when 'uuid'::regtype then type = 'uuid'::regtype
    when 'bigint'::regtype then type = any ('{bigint,int,smallint}'::regtype[])
    else type = any ('{text,varchar,bpchar}'::regtype[])
      or takes_any and type = any ('{uuid,bigint,int,smallint}'::regtype[])
  end
$$;

-- An expression of a type of ids as a column of another type compares with it, for a statement that is put together. Text that
-- the column cannot hold becomes null.
create or replace function tacet.typed_id(expression text, ids regtype, type regtype)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when ids <> 'text'::regtype or tacet.holds_ids(type, 'text') then expression
    when type = 'uuid'::regtype then format('tacet.uuid_of(%s)', expression)
    else format('tacet.bigint_of(%s)', expression)
  end
$$;

-- The same for an event's subject and a column.
create or replace function tacet.typed_subject(expression text, source regclass, name name)
returns text
language plpgsql stable
as $$
begin
  return case when 'tacet.subject_id' = 'uuid' then expression else (
    select tacet.typed_id(expression, 'tacet.subject_id', a.atttypid)
    from pg_attribute a
    where a.attrelid = source and a.attname = name and not a.attisdropped
  ) end;
end
$$;

-- An id of a type, as text, that no row is likely to have. It fits an int.
create or replace function tacet.unused_id(type text)
returns text
language sql volatile
as $$
  select case type when 'bigint' then (-1 - floor(random() * 2e9))::bigint::text else gen_random_uuid()::text end
$$;

-- The number of an advisory lock of this name. The seed, `tace` in ASCII, keeps it apart from the host's.
create or replace function tacet.lock_of(name text)
returns bigint
language sql immutable
as $$
  select hashtextextended(lock_of.name, 1952539493)
$$;

-- The functions below are planned into the statements that call them. For ids of type uuid they are their argument or a constant.
do $do$
declare
  definition record;
begin
  for definition in
    select *
    from (
      values
        -- The message that an event is about; null for an id that no message can have.
        ('message_of(subject_id tacet.subject_id)', 'tacet.message_id', tacet.typed_id('subject_id', 'tacet.subject_id', 'tacet.message_id')),
        -- The row of Tacet's own that an event is about; null for an id that no such row can have.
        ('row_of(subject_id tacet.subject_id)', 'uuid', tacet.typed_id('subject_id', 'tacet.subject_id', 'uuid')),
        -- The subject of an event that is about a row of Tacet's own.
        ('subject_of(id uuid)', 'tacet.subject_id', 'id::tacet.subject_id'),
        -- The surface of a row of Tacet's own; null where surfaces cannot have a uuid.
        ('surface_of(id uuid)', 'tacet.conversation_id', case 'tacet.conversation_id'
          when 'bigint' then 'null::bigint' else 'id::tacet.conversation_id'
        end),
        -- What stands in the place of a conversation for events that are a user's own; null where it cannot be the user's id.
        ('turn_of(user_id tacet.user_id)', 'tacet.conversation_id', case
          when 'tacet.conversation_id' in ('tacet.user_id', 'text') then 'user_id::tacet.conversation_id'
          else 'null::tacet.conversation_id'
        end),
        -- Whether a subject is among others, which are in the order of their bytes. In steps, because as many may be asked about.
        ('is_among(subject_id tacet.subject_id, subject_ids tacet.subject_id[])', 'boolean', case 'tacet.subject_id'
          when 'uuid' then 'subject_ids[width_bucket(subject_id, subject_ids)] is not distinct from subject_id'
          else 'subject_ids[width_bucket(subject_id collate "C", subject_ids)] is not distinct from subject_id'
        end),
        -- A user's id that no other sorts before.
        ('lowest_user_id()', 'tacet.user_id', case 'tacet.user_id'
          when 'bigint' then '''-9223372036854775808''::bigint' when 'text' then ''''''
          else '''00000000-0000-0000-0000-000000000000''::uuid'
        end),
        -- A user's id that no other sorts behind; null for text, which has no such id.
        ('highest_user_id()', 'tacet.user_id', case 'tacet.user_id'
          when 'bigint' then '9223372036854775807' when 'text' then 'null::text'
          else '''ffffffff-ffff-ffff-ffff-ffffffffffff''::uuid'
        end)
    ) as d (signature, result, expression)
  loop
    execute format(
      'create or replace function tacet.%s returns %s language sql immutable parallel safe as %L',
      definition.signature, definition.result, 'select ' || definition.expression);
  end loop;
end
$do$;

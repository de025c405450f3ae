-- The columns and indexes that Tacet adds to the host application's tables, after a look at whether they can be served.
--
-- Creates no table: host/host_tables.sql does, for `tacet migrate --create-host-tables`. What cannot be served raises
-- "not wired" with SQLSTATE TC001 and leaves nothing behind: tables that are missing or are no tables, ids of other types
-- than uuid, columns of ours that mean something else, and large tables without the indexes.
--
-- Locks: ADD COLUMN without a volatile default takes ACCESS EXCLUSIVE for an instant and rewrites nothing. An index is
-- built here only on tables of at most a million rows, while their writers wait.

-- For the function below; 0002 fills it. Without a notice when this file is applied again.
do $$
begin
  if to_regnamespace('tacet') is null then
    create schema tacet;
  end if;
end
$$;

-- Whether a valid index begins with these columns, under any name. An index without a predicate serves for any.
--
-- columns, predicate: as pg_get_indexdef writes them. The order of a column does not matter, because an index is read from
-- either end.
create or replace function tacet.has_index(source regclass, columns text, predicate text default null)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select
    from pg_index i
    cross join lateral substring(
      regexp_replace(
        regexp_replace(pg_get_indexdef(i.indexrelid), ' (DESC|ASC|NULLS FIRST|NULLS LAST)', '', 'g'),
        '\((\w+)\)::text', '\1', 'g')
      from ' USING btree \((.*)$') as d (definition)
    cross join lateral substring(d.definition from ' WHERE \((.*)\)$') as p (predicate)
    where i.indrelid = source and i.indisvalid
      and (starts_with(d.definition, columns || ')') or starts_with(d.definition, columns || ', '))
      and (p.predicate is null or p.predicate = has_index.predicate))
$$;

do $$
declare
  problems text[] := '{}';
  remedies text;
begin
  -- Views have no rows of their own, and foreign tables no triggers for whole statements.
  select array_agg(
    case
      when c.oid is null then format('table public.%s is missing', t.name)
      else format('public.%s is not a table', t.name)
    end order by t.place)
  into problems
  from unnest(array['profiles', 'conversations', 'conversation_participants', 'messages', 'push_tokens'])
    with ordinality as t (name, place)
  left join pg_class c on c.oid = to_regclass('public.' || t.name)
  where c.oid is null or (c.relkind not in ('r', 'p') and (t.name <> 'conversations' or c.relkind not in ('v', 'm', 'f')));
  if problems is not null then
    raise exception e'not wired: %\nCreate the tables, or run tacet migrate --create-host-tables, which makes those that '
      'are missing. An application that keeps its messages elsewhere does so too, and then replaces the host contract '
      '(db/README.md).', array_to_string(problems, ', ')
      using errcode = 'TC001';
  end if;

  -- Ids go into tables of ours, whose columns are uuid. Triggers read the required ones; the host contract may do without
  -- the others.
  select array_agg(
    case
      when a.attname is null then format('public.%s has no column %s', t.relation, t.name)
      else format('public.%s.%s is %s instead of %s', t.relation, t.name, format_type(a.atttypid, a.atttypmod), t.type)
    end order by t.place)
  into problems
  from (
    values
      (1, 'profiles', 'id', 'uuid', true),
      (2, 'conversations', 'id', 'uuid', false),
      (3, 'conversation_participants', 'conversation_id', 'uuid', false),
      (4, 'conversation_participants', 'user_id', 'uuid', false),
      (5, 'messages', 'id', 'uuid', true),
      (6, 'messages', 'conversation_id', 'uuid', false),
      (7, 'messages', 'from_id', 'uuid', false),
      (8, 'messages', 'created_at', 'timestamp with time zone', false),
      (9, 'push_tokens', 'user_id', 'uuid', false),
      (10, 'push_tokens', 'device_token', 'text', false),
      (11, 'conversation_participants', 'last_seen', 'timestamp with time zone', false),
      (12, 'conversation_participants', 'left_at', 'timestamp with time zone', false),
      (13, 'push_tokens', 'registered_at', 'timestamp with time zone', false),
      (14, 'push_tokens', 'invalidated_at', 'timestamp with time zone', false)
  ) as t (place, relation, name, type, is_required)
  left join pg_attribute a
    on a.attrelid = to_regclass('public.' || t.relation) and a.attname = t.name and not a.attisdropped
  where (a.attname is null and t.is_required)
    or (
      a.atttypid <> to_regtype(t.type)
      and not (t.type = 'text' and a.atttypid in ('varchar'::regtype, 'bpchar'::regtype))
      and not (t.name = 'created_at' and a.atttypid = 'timestamp'::regtype)
    );
  if problems is not null then
    raise exception e'not wired: %\nGive the columns these types. Or keep such tables in another schema, let '
      'tacet migrate --create-host-tables make the default ones, and replace the host contract (db/README.md).',
      array_to_string(problems, ', ')
      using errcode = 'TC001';
  end if;

  -- An index is built while writers wait: on a large table its owner builds it beforehand. PostgreSQL builds no index
  -- CONCURRENTLY on a partitioned table: there each partition gets its own, which is attached to one that was made on the
  -- parent alone. Rows of a table that was never analysed are guessed by its size, at 100 bytes each; a table may have grown
  -- since it was.
  select string_agg(t.line, e'\n' order by t.place, t.step, t.branch) into remedies
  from (
    with recursive wanted (place, relation, columns, predicate, preparation, index_name, definition) as (
      values
        (1, 'conversation_participants', 'conversation_id, last_seen', null,
          'alter table public.conversation_participants add column if not exists last_seen timestamptz;',
          'conversation_participants_last_seen_idx', '(conversation_id, last_seen)'),
        (2, 'conversation_participants', 'user_id', null, null, 'conversation_participants_user_idx', '(user_id)'),
        (3, 'messages', 'conversation_id, created_at', null, null, 'messages_conversation_idx',
          '(conversation_id, created_at desc)'),
        (4, 'push_tokens', 'user_id', 'invalidated_at IS NULL',
          'alter table public.push_tokens add column if not exists invalidated_at timestamptz;',
          'push_tokens_user_idx', '(user_id) where invalidated_at is null'),
        (5, 'push_tokens', 'lower(device_token)', null, null, 'push_tokens_spelling_idx', '(lower(device_token))'),
        (6, 'push_tokens', 'user_id', 'invalidated_at IS NOT NULL', null, 'push_tokens_dropped_idx',
          '(user_id) where invalidated_at is not null')
    ), tree (place, relation, branch) as (
      select w.place, to_regclass('public.' || w.relation)::oid, array[0::bigint] from wanted w
      union all
      select t.place, i.inhrelid, t.branch || row_number() over (partition by t.place, i.inhparent order by i.inhrelid)
      from tree t
      join pg_inherits i on i.inhparent = t.relation
    ), large (place) as (
      select t.place
      from tree t
      join pg_class c on c.oid = t.relation and c.relkind <> 'p'
      cross join lateral (select pg_relation_size(c.oid) as bytes) s
      group by t.place
      having sum(
        case
          when c.reltuples < 0 then s.bytes / 100.0
          else c.reltuples
            * greatest(s.bytes / greatest(c.relpages, 1) / current_setting('block_size')::float8, 1)
        end) > 1000000
    ), made as (
      select
        t.*, c.relkind, n.nspname, w.definition, w.preparation, cardinality(t.branch) = 1 as is_root,
        w.index_name || coalesce('_' || nullif(array_to_string(t.branch[2:], '_'), ''), '') as index_name,
        format('%I.%I', n.nspname, c.relname) as table_name
      from tree t
      join wanted w on w.place = t.place
      join pg_class c on c.oid = t.relation
      join pg_namespace n on n.oid = c.relnamespace
      where t.place in (select l.place from large l)
        and not tacet.has_index(to_regclass('public.' || w.relation), w.columns, w.predicate)
    )
    select m.place, 0 as step, m.branch, m.preparation as line from made m where m.is_root
    union all
    select m.place, 1, m.branch,
      case when m.relkind = 'p' then format('create index %I on only %s %s;', m.index_name, m.table_name, m.definition)
        else format('create index concurrently %I on %s %s;', m.index_name, m.table_name, m.definition)
      end
    from made m
    union all
    select m.place, 2, m.branch,
      format('alter index %I.%I attach partition %I.%I;', p.nspname, p.index_name, m.nspname, m.index_name)
    from made m
    join made p on p.place = m.place and p.relkind = 'p' and p.branch = m.branch[:cardinality(m.branch) - 1]
  ) t;
  if remedies is not null then
    raise exception e'not wired: tables of more than a million rows lack indexes\nRun these lines one by one, outside of a '
      'transaction, and then migrate again:\n%', remedies
      using errcode = 'TC001';
  end if;
end
$$;

-- last_seen: the user was looking at the conversation then. left_at: the user's client said that it left; it ends the
-- presence and erases nothing.
alter table public.conversation_participants
  add column if not exists last_seen timestamptz,
  add column if not exists left_at timestamptz;

-- environment and app: which APNs host and which app the token is for; null means the service's default.
-- registered_at: when the app last handed the token over; an APNs answer about an older time must not drop it.
alter table public.push_tokens
  add column if not exists registered_at timestamptz not null default now(),
  add column if not exists invalidated_at timestamptz,
  add column if not exists environment text,
  add column if not exists app text,
  add column if not exists invalidation_reason text;

-- An index is made only where the tables have the columns: a host with its own shape chooses its own.
do $$
begin
  if not tacet.has_index('public.conversation_participants', 'conversation_id, last_seen') then
    create index if not exists conversation_participants_last_seen_idx
      on public.conversation_participants (conversation_id, last_seen);
  end if;
  if not tacet.has_index('public.conversation_participants', 'user_id') then
    create index if not exists conversation_participants_user_idx on public.conversation_participants (user_id);
  end if;
  if not tacet.has_index('public.push_tokens', 'user_id', 'invalidated_at IS NULL') then
    create index if not exists push_tokens_user_idx on public.push_tokens (user_id) where invalidated_at is null;
  end if;
  if not tacet.has_index('public.messages', 'conversation_id, created_at') then
    create index if not exists messages_conversation_idx on public.messages (conversation_id, created_at desc);
  end if;
exception
  when undefined_column then
    raise notice 'tacet: the host tables differ from the default; replace the functions of 0003_host_contract.sql';
end
$$;

revoke all on function tacet.has_index(regclass, text, text) from public;

-- The ledger, and what Tacet adds to schema public: columns and indexes of the host's tables.
--
-- Versions 1 to 26 are squashed into 0027 to 0029, which serve an empty database and one of version 19 or later.
--
-- A host that cannot be served is refused with "not wired", SQLSTATE TC001, and nothing is created: a database without any
-- application, ids of another type, columns of ours with another type, and large tables without the indexes. Tables that the
-- host does not have under these names, and views, are passed over with a notice.
--
-- Locks: ACCESS EXCLUSIVE for an instant on conversation_participants and push_tokens; nothing is rewritten. An index is built
-- here only on tables of up to a million rows, and blocks their writers.

do $$
begin
  -- "if not exists" would raise a notice each time.
  if to_regnamespace('tacet') is null then
    create schema tacet;
  end if;
exception
  when insufficient_privilege then
    raise exception e'not wired: role % may not create schemas\nAs a role that may: create schema tacet authorization %;',
      current_user, quote_ident(current_user)
      using errcode = 'TC001';
end
$$;

-- Whether a valid index begins with these columns, under any name. An index without a predicate serves any predicate.
--
-- columns, predicate: as pg_get_indexdef writes them. Sort orders are ignored, because an index is read from either end.
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

revoke all on function tacet.has_index(regclass, text, text) from public;

-- What exists is skipped without a notice.
set client_min_messages = warning;

-- Which files of this folder were applied. Each file inserts its own row, so files applied by psql count too.
create table if not exists tacet.migrations (
  applied_at timestamptz not null default now(),
  version int primary key,
  name text not null
);

-- What was added to the host's tables; uninstall.sql takes it away. kind: column, index or storage.
create table if not exists tacet.host_additions (
  relation text,
  kind text,
  name text,
  primary key (relation, kind, name)
);

reset client_min_messages;

do $$
begin
  if (select count(*) filter (where m.version <= 19) < 19 and bool_or(m.version < 27) from tacet.migrations m) then
    raise exception e'not wired: the schema has version %, and this release upgrades version 19 or later\nMigrate it with a '
      'release of version 19 to 26 first, then again with this one.', (select max(m.version) from tacet.migrations m)
      using errcode = 'TC001';
  end if;
end
$$;

-- The checks, columns and indexes of a first installation. A database that is upgraded has them, and its host may have moved
-- to other tables since.
do $$
declare
  -- columns and predicate as tacet.has_index takes them. preparation: adds the column that a concurrent build needs.
  wanted_indexes constant jsonb := '[
    {"place": 1, "relation": "conversation_participants", "columns": "conversation_id, last_seen",
     "name": "conversation_participants_last_seen_idx", "definition": "(conversation_id, last_seen)",
     "preparation": "alter table public.conversation_participants add column if not exists last_seen timestamptz;"},
    {"place": 2, "relation": "conversation_participants", "columns": "user_id",
     "name": "conversation_participants_user_idx", "definition": "(user_id)"},
    {"place": 3, "relation": "messages", "columns": "conversation_id, created_at",
     "name": "messages_conversation_idx", "definition": "(conversation_id, created_at desc)"},
    {"place": 4, "relation": "push_tokens", "columns": "user_id", "predicate": "invalidated_at IS NULL",
     "name": "push_tokens_user_idx", "definition": "(user_id) where invalidated_at is null",
     "preparation": "alter table public.push_tokens add column if not exists invalidated_at timestamptz;"},
    {"place": 5, "relation": "push_tokens", "columns": "lower(device_token)",
     "name": "push_tokens_spelling_idx", "definition": "(lower(device_token))"},
    {"place": 6, "relation": "push_tokens", "columns": "user_id", "predicate": "invalidated_at IS NOT NULL",
     "name": "push_tokens_dropped_idx", "definition": "(user_id) where invalidated_at is not null"}]';
  -- The ledger: one row for each event and recipient.
  --
  -- content: only of pushes that the service composed, never message text. woken_microseconds: from the wake-up to the claim;
  -- decided_microseconds, accepted_microseconds: from the claim. history: a JSON object for each claim that left a record, the
  -- oldest first, the first twenty and the newest twenty; ages, flags, reasons and the beginnings of device tokens, no text and
  -- no name. opened_at: when the app first reported it.
  --
  -- id is a UUID of version 7 (RFC 9562, section 5.7): 48 bits of milliseconds, then random bits, so that ids of one moment share
  -- a page of the primary key. overlay keeps the version digit of a random UUID, 4; setting two bits makes it 7. It is an
  -- expression because a function would need its own grant for each role that inserts.
  --
  -- Rows are appended at one end and pruned at the other. Vacuum reads every index in full, so it comes at 2 percent and not
  -- more often; inserts alone make it visit and freeze new pages.
  ledger constant text := $ledger$create table tacet.push_log (
  enqueued_at timestamptz not null default now(),
  claimed_at timestamptz,
  held_until timestamptz,
  sent_at timestamptz,
  woken_microseconds int,
  decided_microseconds int,
  accepted_microseconds int,
  devices_accepted smallint not null default 0,
  attempts smallint not null default 1,
  opened boolean not null default false,
  id uuid primary key default encode(
    set_bit(
      set_bit(
        overlay(
          uuid_send(gen_random_uuid())
          placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
          from 1 for 6),
        52, 1),
      53, 1),
    'hex')::uuid,
  user_id tacet.user_id not null,
  subject_id tacet.subject_id,
  push_type text not null,
  decision text not null check (decision in ('sent', 'held', 'skipped', 'failed')),
  reason text,
  woken_by text,
  content text,
  metadata jsonb not null default '{}',
  history jsonb not null default '[]',
  opened_at timestamptz
) with (
  autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 10000,
  autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_insert_threshold = 100000,
  autovacuum_analyze_scale_factor = 0.02, autovacuum_analyze_threshold = 10000
);
create unique index push_log_subject_idx on tacet.push_log (subject_id, user_id, push_type);
create index push_log_enqueued_idx on tacet.push_log (enqueued_at);
create index push_log_user_enqueued_idx on tacet.push_log (user_id, enqueued_at desc);
create index push_log_campaign_idx on tacet.push_log (user_id, sent_at desc)
  where (push_type <> 'message') is true;$ledger$;
  is_creator boolean := coalesce((
    select has_schema_privilege(n.oid, 'create') from pg_namespace n where n.nspname = 'public'), false);
  problems text[];
  missing text;
  views text;
  remedies text;
  unmade text;
  wanted record;
begin
  if exists (select from tacet.migrations m where m.version < 27) then
    return;
  end if;

  -- A host keeps its tables under these names or others. A database without any has no application in it yet, and is rather the
  -- wrong one. Schemas that Supabase makes and tables of extensions do not count; host_tables.sql has the same condition.
  if not exists (
    select
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^pg_' and n.nspname not in (
        'information_schema', 'tacet', 'auth', 'storage', 'realtime', 'vault', 'extensions', 'graphql', 'graphql_public', 'net',
        'cron', 'pgsodium', 'pgbouncer', 'supabase_functions', 'supabase_migrations')
      and c.oid is distinct from to_regclass('public.push_log')
      and not exists (
        select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
      )
  ) then
    raise exception e'not wired: table public.profiles is missing, table public.conversations is missing, table '
      'public.conversation_participants is missing, table public.messages is missing, table public.push_tokens is missing, and '
      'there is no other one\nCreate the application''s tables first, or run tacet migrate --create-host-tables, which makes '
      'these.'
      using errcode = 'TC001';
  end if;

  if to_regclass('tacet.push_log') is null then
    execute ledger;
  end if;

  -- Ids go into columns of ours, which have one type for each kind of id; integers go into bigint. Triggers read the required columns; the host contract can do without the rest.
  select array_agg(
    case
      when a.attname is null then format('public.%s has no column %s', t.relation, t.name)
      else format('public.%s.%s is %s instead of %s', t.relation, t.name, format_type(a.atttypid, a.atttypmod), t.type)
    end order by t.place)
  into problems
  from (
    values
      (1, 'profiles', 'id', 'tacet.user_id', true),
      (2, 'conversations', 'id', 'tacet.conversation_id', false),
      (3, 'conversation_participants', 'conversation_id', 'tacet.conversation_id', false),
      (4, 'conversation_participants', 'user_id', 'tacet.user_id', false),
      (5, 'messages', 'id', 'tacet.message_id', true),
      (6, 'messages', 'conversation_id', 'tacet.conversation_id', false),
      (7, 'messages', 'from_id', 'tacet.user_id', false),
      (8, 'messages', 'created_at', 'timestamp with time zone', false),
      (9, 'push_tokens', 'user_id', 'tacet.user_id', false),
      (10, 'push_tokens', 'device_token', 'text', false),
      (11, 'conversation_participants', 'last_seen', 'timestamp with time zone', false),
      (12, 'conversation_participants', 'left_at', 'timestamp with time zone', false),
      (13, 'push_tokens', 'registered_at', 'timestamp with time zone', false),
      (14, 'push_tokens', 'invalidated_at', 'timestamp with time zone', false)
  ) as t (place, relation, name, type, is_required)
  join pg_class c on c.oid = to_regclass('public.' || t.relation)
  left join pg_attribute a on a.attrelid = c.oid and a.attname = t.name and not a.attisdropped
  where (a.attname is null and t.is_required)
    or (
      a.atttypid <> to_regtype(t.type)
      and not (t.type = 'text' and a.atttypid in ('varchar'::regtype, 'bpchar'::regtype))
      and not (t.type = 'bigint' and a.atttypid in ('int'::regtype, 'smallint'::regtype))
      and not (t.name = 'created_at' and a.atttypid = 'timestamp'::regtype)
    );
  if problems is not null then
    raise exception e'not wired: %\nGive the columns these types. Or keep such tables in another schema, and replace the functions '
      'of the host contract that read them (db/CONTRACT.md).',
      array_to_string(problems, ', ')
      using errcode = 'TC001';
  end if;

  -- Everything is found by its id alone. A partitioned table has the columns by which it is partitioned in each key, and no
  -- unique index on others; an index that begins with the id finds rows there.
  select string_agg(
    format('ids of public.%s may repeat, because its primary key is (%s)', t.name, (
      select string_agg(a.attname, ', ' order by x.place)
      from unnest(k.indkey::int2[]) with ordinality as x (attnum, place)
      join pg_attribute a on a.attrelid = c.oid and a.attnum = x.attnum
    )), ', ' order by t.place)
  into remedies
  from unnest(array['profiles', 'conversations', 'messages']) with ordinality as t (name, place)
  join pg_class c on c.oid = to_regclass('public.' || t.name)
  join pg_index k on k.indrelid = c.oid and k.indisprimary and k.indnkeyatts > 1
  join pg_attribute i on i.attrelid = c.oid and i.attname = 'id' and i.attnum = any (k.indkey::int2[])
  left join pg_partitioned_table p on p.partrelid = c.oid
  where exists (
      select from unnest(k.indkey::int2[]) as x (attnum)
      where x.attnum <> i.attnum and (p.partattrs is null or x.attnum <> all (p.partattrs::int2[])))
    and not (c.relkind = 'p' and tacet.has_index(c.oid, 'id'))
    and not exists (
      select from pg_index u
      where u.indrelid = c.oid and u.indisunique and u.indisvalid and u.indpred is null and u.indnkeyatts = 1
        and u.indkey[0] = i.attnum
    );
  if remedies is not null then
    raise exception e'not wired: %\nTacet finds rows by their ids alone. Where ids are unique, create a unique index on id beside '
      'the key; on a partitioned table, an index that begins with id. Where another tenant has the same id, Tacet cannot serve '
      'the database.', remedies
      using errcode = 'TC001';
  end if;

  select string_agg(t.name, ', public.' order by t.place) filter (where c.oid is null),
    string_agg(t.name, ', public.' order by t.place) filter (where c.relkind not in ('r', 'p'))
  into missing, views
  from unnest(array['profiles', 'conversations', 'conversation_participants', 'messages', 'push_tokens'])
    with ordinality as t (name, place)
  left join pg_class c on c.oid = to_regclass('public.' || t.name);
  if missing is not null then
    raise notice 'tacet: the host has no public.%; if it keeps these elsewhere, replace what reads them and make the triggers '
      'there (db/CONTRACT.md)', missing;
  end if;
  if views is not null then
    raise notice 'tacet: public.% is no table: columns, indexes and triggers of Tacet belong to the tables behind it '
      '(db/CONTRACT.md)', views;
  end if;

  -- On a large table the owner builds the index beforehand. PostgreSQL builds no index CONCURRENTLY on a partitioned table:
  -- each partition gets its own, attached to one that exists on the parent alone. Rows of a table that was never analysed are
  -- estimated from its size, at 100 bytes each; an analysed table may have grown since.
  select string_agg(t.line, e'\n' order by t.place, t.step, t.branch) into remedies
  from (
    with recursive indexes as (
      select w.*
      from jsonb_to_recordset(wanted_indexes) as w (
        place int, relation text, columns text, predicate text, preparation text, name text, definition text)
    ), tree (place, relation, branch) as (
      select w.place, to_regclass('public.' || w.relation)::oid, array[0::bigint] from indexes w
      union all
      select t.place, i.inhrelid, t.branch || row_number() over (partition by t.place, i.inhparent order by i.inhrelid)
      from tree t
      join pg_inherits i on i.inhparent = t.relation
    ), large (place) as (
      select t.place
      from tree t
      join pg_class c on c.oid = t.relation and c.relkind = 'r'
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
        w.name || coalesce('_' || nullif(array_to_string(t.branch[2:], '_'), ''), '') as index_name,
        format('%I.%I', n.nspname, c.relname) as table_name
      from tree t
      join indexes w on w.place = t.place
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

  -- last_seen: the user was looking at the conversation then. left_at: the user's client reported that it left, which ends the
  -- presence. registered_at: when the app last handed the token over; an APNs answer about an earlier time must not drop it.
  -- environment, app: which APNs host and which app the token is for; null is the service's default. locale: a BCP 47 language
  -- tag. time_zone: an IANA name, used for quiet hours that name none.
  for wanted in
    select t.*
    from (
      values
        (1, 'conversation_participants', 'last_seen', 'timestamptz'),
        (2, 'conversation_participants', 'left_at', 'timestamptz'),
        (3, 'push_tokens', 'registered_at', 'timestamptz not null default now()'),
        (4, 'push_tokens', 'invalidated_at', 'timestamptz'),
        (5, 'push_tokens', 'environment', 'text'),
        (6, 'push_tokens', 'app', 'text'),
        (7, 'push_tokens', 'invalidation_reason', 'text'),
        (8, 'push_tokens', 'locale', 'text'),
        (9, 'push_tokens', 'time_zone', 'text')
    ) as t (place, relation, name, definition)
    join pg_class c on c.oid = to_regclass('public.' || t.relation) and c.relkind in ('r', 'p')
    where not exists (
      select from pg_attribute a where a.attrelid = c.oid and a.attname = t.name and not a.attisdropped
    )
    order by t.place
  loop
    execute format('alter table public.%I add column %I %s', wanted.relation, wanted.name, wanted.definition);
    insert into tacet.host_additions values (wanted.relation, 'column', wanted.name);
  end loop;

  for wanted in
    select w.*
    from jsonb_to_recordset(wanted_indexes) as w (
      place int, relation text, columns text, predicate text, name text, definition text)
    join pg_class c on c.oid = to_regclass('public.' || w.relation) and c.relkind in ('r', 'p')
    where not tacet.has_index(c.oid, w.columns, w.predicate) and to_regclass('public.' || quote_ident(w.name)) is null
    order by w.place
  loop
    if not is_creator then
      unmade := concat_ws(
        e'\n', unmade, format('create index %I on public.%I %s;', wanted.name, wanted.relation, wanted.definition));
      continue;
    end if;
    begin
      execute format('create index %I on public.%I %s', wanted.name, wanted.relation, wanted.definition);
      insert into tacet.host_additions values (wanted.relation, 'index', wanted.name);
    exception
      -- A host with its own columns chooses its own indexes.
      when undefined_column or undefined_function then
        raise notice 'tacet: the host tables differ from the default; replace the functions of the host contract (%)', sqlerrm;
    end;
  end loop;
  if unmade is not null then
    raise notice e'tacet: role % may not create in schema public; these indexes are missing, and without them claims read whole '
      'tables:\n%', current_user, unmade;
  end if;

  -- Heartbeats rewrite rows that the index on last_seen keeps from being updated in place. With the server's defaults a fifth of
  -- the table would be dead rows before a vacuum. A host that has settings of its own keeps them.
  if exists (
    select from pg_class c
    where c.oid = to_regclass('public.conversation_participants') and c.relkind = 'r'
      and not exists (select from unnest(c.reloptions) as o (setting) where o.setting like 'autovacuum%')
  ) then
    begin
      alter table public.conversation_participants set (
        autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
      );
      insert into tacet.host_additions values ('conversation_participants', 'storage', 'autovacuum');
    exception
      when insufficient_privilege then
        raise notice 'tacet: have conversation_participants vacuumed often, because heartbeats rewrite its rows';
    end;
  end if;
end
$$;

insert into tacet.migrations (version, name) values (27, '0027_host_tables') on conflict do nothing;

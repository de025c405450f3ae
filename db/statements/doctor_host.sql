-- What the doctor asks about the host's tables and functions.

-- name: examine_host(columns_max bigint)
-- Returns the host's tables and views as JSON, one document each, for tacet init. Schemas that Supabase makes, tables of
-- extensions and partitions are left out. count: how many there are, also of those that columns_max leaves out. encoding: of the
-- database. width: bytes of a text on average, as the last analysis of the table has sampled it.
--
-- columns_max: columns of all tables together.

with relations as (
  select
    c.oid, n.nspname, c.relname, c.relkind, c.reltuples, c.relrowsecurity,
    sum(c.relnatts) over (order by n.nspname, c.relname) as columns
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition and n.nspname !~ '^pg_' and n.nspname not in (
      'information_schema', 'tacet', 'tacet_host', 'auth', 'storage', 'realtime', 'vault', 'extensions', 'graphql',
      'graphql_public', 'net', 'cron', 'pgsodium', 'pgbouncer', 'supabase_functions', 'supabase_migrations')
    and c.oid is distinct from to_regclass('public.push_log')
    and not exists (
      select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
    )
)
select
  (select count(*) from relations) as count, current_setting('server_encoding') as encoding,
  jsonb_build_object(
    'schema', r.nspname, 'name', r.relname, 'isTable', r.relkind in ('r', 'p'), 'isPartitioned', r.relkind = 'p',
    'rows', case when r.reltuples < 0 then pg_relation_size(r.oid) / 100 else r.reltuples end, 'hasRowSecurity', r.relrowsecurity,
    'columns', (
      select coalesce(
        jsonb_agg(
          jsonb_build_object(
            'name', a.attname, 'type', coalesce(b.typname, t.typname), 'isNullable', not a.attnotnull, 'width', s.avg_width)
          order by a.attnum), '[]')
      from pg_attribute a
      join pg_type t on t.oid = a.atttypid
      left join pg_type b on b.oid = t.typbasetype
      left join pg_stats s on s.schemaname = r.nspname and s.tablename = r.relname and s.attname = a.attname
        and s.inherited = (r.relkind = 'p')
      where a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
    ),
    'indexes', (
      select coalesce(
        jsonb_agg(
          jsonb_build_object('isUnique', i.indisunique, 'columns', (
            select coalesce(jsonb_agg(coalesce(a.attname, '') order by k.place), '[]')
            from unnest(i.indkey::int2[]) with ordinality as k (attnum, place)
            left join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
            where k.place <= i.indnkeyatts
          ))
          order by i.indisprimary desc, i.indexrelid), '[]')
      from pg_index i
      where i.indrelid = r.oid and i.indisvalid and i.indpred is null
    ),
    'references', (
      select coalesce(
        jsonb_agg(
          jsonb_build_object('column', a.attname, 'schema', n.nspname, 'table', f.relname, 'target', o.attname, 'columns', (
            select jsonb_agg(x.attname order by array_position(k.conkey, x.attnum))
            from pg_attribute x
            where x.attrelid = k.conrelid and x.attnum = any (k.conkey)
          ))
          order by k.oid, p.place), '[]')
      from pg_constraint k
      cross join unnest(k.conkey, k.confkey) with ordinality as p (own, other, place)
      join pg_attribute a on a.attrelid = k.conrelid and a.attnum = p.own
      join pg_attribute o on o.attrelid = k.confrelid and o.attnum = p.other
      join pg_class f on f.oid = k.confrelid
      join pg_namespace n on n.oid = f.relnamespace
      where k.conrelid = r.oid and k.contype = 'f'
    ))::text as document
from relations r
where r.columns <= :columns_max
order by r.nspname, r.relname;

-- name: examine_host_ids
-- Returns the types of ids that a host has, as far as its tables have the names of the default contract: uuid, bigint or text; null
-- for another type and for what is not there.

select
  max(t.type) filter (where t.kind = 'message') as messages,
  max(t.type) filter (where t.kind = 'conversation') as conversations,
  max(t.type) filter (where t.kind = 'user') as users
from (
  select distinct on (c.kind)
    c.kind,
    case
      when a.atttypid = 'uuid'::regtype then 'uuid'
      when a.atttypid in ('bigint'::regtype, 'int'::regtype, 'smallint'::regtype) then 'bigint'
      when a.atttypid in ('text'::regtype, 'varchar'::regtype, 'bpchar'::regtype) then 'text'
    end as type
  from (
    values
      (1, 'message', 'public.messages', 'id'), (2, 'conversation', 'public.conversations', 'id'),
      (3, 'conversation', 'public.messages', 'conversation_id'), (4, 'user', 'public.profiles', 'id'),
      (5, 'user', 'public.conversation_participants', 'user_id'), (6, 'user', 'public.messages', 'from_id')
  ) as c (place, kind, source, name)
  join pg_attribute a on a.attrelid = to_regclass(c.source) and a.attname = c.name and not a.attisdropped
  order by c.kind, c.place
) t;

-- name: examine_contract_tokens
-- Counts device tokens like examine_device_tokens, by the host's own function, for the users who were pushed to last.

select coalesce(d.app, '') as app, coalesce(d.environment, '') as environment, count(*) as tokens
from (
  select distinct l.user_id
  from (select x.user_id from tacet.push_log x order by x.enqueued_at desc limit 1000) l
) u
cross join lateral tacet.device_tokens(u.user_id) d
group by 1, 2
order by 3 desc, 1, 2
limit 200;

-- name: examine_device_tokens
-- Counts device tokens by app and environment, in the table of the default host contract; the first 200000 of them.

select coalesce(t.app, '') as app, coalesce(t.environment, '') as environment, count(*) as tokens
from (
  select p.app, p.environment, p.invalidated_at, p.platform
  from public.push_tokens p
  limit 20 * 10000
) t
where t.invalidated_at is null
  and lower(t.platform) in ('ios', 'ipados', 'macos', 'watchos', 'tvos', 'visionos', 'apns')
group by 1, 2
order by 3 desc, 1, 2
limit 200;

-- name: examine_token_access
-- Returns who can read or write device tokens besides the owner, services, superusers and roles that bypass row-level
-- security.
--
-- A policy that lets every row through opens the table; the application judges others. Row-level security keeps no
-- role from truncating a table or from creating triggers on it.

select r.rolname as role, string_agg(p.privilege, ', ' order by p.place) as privileges
from pg_class c
cross join (
  select 0::oid as oid, 'public'::name as rolname
  union all
  select a.oid, a.rolname
  from pg_roles a
  where not a.rolsuper and not a.rolbypassrls and a.oid >= 16384
) r
cross join (
  values
    (1, 'select', 'r'), (2, 'insert', 'a'), (3, 'update', 'w'), (4, 'delete', 'd'), (5, 'truncate', ''),
    (6, 'trigger', '')
) as p (place, privilege, command)
where c.oid = to_regclass('public.push_tokens') and r.rolname <> current_user
  and (r.oid = 0 or not pg_has_role(r.oid, c.relowner, 'usage'))
  and not has_function_privilege(r.rolname, 'tacet.invalidate_device_token(text, text, timestamptz)', 'execute')
  and (
    has_table_privilege(r.rolname, c.oid, p.privilege)
    or (p.place <= 3 and has_any_column_privilege(r.rolname, c.oid, p.privilege))
  )
  and (
    not c.relrowsecurity or p.command = '' or exists (
      select from pg_policy y
      where y.polrelid = c.oid and y.polpermissive and y.polcmd::text in ('*', p.command)
        and exists (
          select from unnest(y.polroles) as u (oid)
          where u.oid = 0 or (r.oid <> 0 and pg_has_role(r.oid, nullif(u.oid, 0), 'usage'))
        )
        and 'true' = coalesce(pg_get_expr(y.polqual, c.oid), pg_get_expr(y.polwithcheck, c.oid))
    )
  )
group by r.oid, r.rolname
order by r.oid
limit 20;

-- name: examine_message_tables
-- Returns the tables with the trigger on inserted messages, without partitions of others: how many partitions have the trigger
-- and lack it, and the primary key where ids may repeat, because it has other columns and no unique index is on the id alone.
-- A partitioned table has its partition's columns in each key, and needs an index that begins with the id.

with watched as (
  select distinct t.tgrelid as relation
  from pg_trigger t
  join pg_proc p on p.oid = t.tgfoid
  join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = 'tacet' and p.proname = 'enqueue_inserted_messages' and not t.tgisinternal
)
select
  w.relation::regclass::text as name,
  (
    select count(*) from pg_partition_tree(w.relation) x
    where x.isleaf and x.relid <> w.relation and x.relid in (select o.relation from watched o)
  ) as watched_partitions,
  (
    select count(*) from pg_partition_tree(w.relation) x
    where x.isleaf and x.relid <> w.relation and x.relid not in (select o.relation from watched o)
  ) as other_partitions,
  (
    select string_agg(a.attname, ', ' order by x.place)
    from pg_index k
    join pg_attribute i on i.attrelid = k.indrelid and i.attname = 'id' and i.attnum = any (k.indkey::int2[])
    left join pg_partitioned_table p on p.partrelid = k.indrelid
    cross join unnest(k.indkey::int2[]) with ordinality as x (attnum, place)
    join pg_attribute a on a.attrelid = k.indrelid and a.attnum = x.attnum
    where k.indrelid = w.relation and k.indisprimary
      and exists (
        select from unnest(k.indkey::int2[]) as o (attnum)
        where o.attnum <> i.attnum and (p.partattrs is null or o.attnum <> all (p.partattrs::int2[])))
      and not exists (
        select from pg_index u
        where u.indrelid = w.relation and u.indisvalid and u.indpred is null and u.indkey[0] = i.attnum
          and (p.partrelid is not null or u.indisunique and u.indnkeyatts = 1)
      )
  ) as repeating_key
from watched w
where not exists (select from pg_inherits h where h.inhrelid = w.relation and h.inhparent in (select o.relation from watched o))
order by 1;

-- name: examine_indexes(index_names text[])
-- Returns whether indexes can be used; null for one that is missing.

select w.name, (
  select bool_or(i.indisvalid and i.indisready and i.indislive)
  from pg_class c
  join pg_index i on i.indexrelid = c.oid
  join pg_namespace n on n.oid = c.relnamespace
  where c.relname = w.name and n.nspname in ('tacet', 'public')
) as is_usable
from unnest(:index_names) as w (name);

-- name: examine_triggers
-- Returns the triggers that run functions of schema `tacet`, with their first argument.

select
  t.tgrelid::regclass::text as table, t.tgname::text as name, t.tgenabled::text as state,
  p.proname::text as function, split_part(encode(t.tgargs, 'escape'), '\000', 1) as argument
from pg_trigger t
join pg_proc p on p.oid = t.tgfoid
join pg_namespace n on n.oid = p.pronamespace
where n.nspname = 'tacet' and not t.tgisinternal and t.tgparentid = 0
order by 1, 2;

-- name: examine_zones
-- Returns names of time zones that the server has lost since they were noted, and the zones that users there have instead; null for UTC.

select distinct z.name, tacet.known_zone(z.spelling) as stand_in
from tacet.time_zones z
where z.name not in (select n.name from pg_timezone_names n)
order by z.name
limit 1000;

-- name: examine_replication_roles
-- Returns roles whose sessions run no ordinary triggers in this database, by their settings.

select coalesce(r.rolname::text, 'every role')
from pg_db_role_setting s
left join pg_roles r on r.oid = s.setrole
cross join unnest(s.setconfig) as c (setting)
where c.setting = 'session_replication_role=replica'
  and (s.setdatabase = 0 or s.setdatabase = (select d.oid from pg_database d where d.datname = current_database()))
order by 1;

-- name: rehearse_message(is_inserted boolean)
-- Plays a message through the host contract; nothing of it stays.

select r.step, r.outcome, r.state as sql_state, coalesce(r.message, '') as message from tacet.rehearse_message(:is_inserted) r;

-- name: call_with_nulls(function text)
-- Calls a function of the host contract with arguments that name nobody: it runs, finds no row and changes nothing.

select tacet.call_with_nulls(:function);

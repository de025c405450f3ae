-- Returns the host's tables and views as JSON, one document each, for tacet init. Schemas that Supabase makes, tables of
-- extensions and partitions are left out. count: how many there are, also of those that columns_max leaves out. encoding: of the
-- database.
--
--   :columns_max  bigint  columns of all tables together

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
            'name', a.attname, 'type', coalesce(b.typname, t.typname), 'isNullable', not a.attnotnull)
          order by a.attnum), '[]')
      from pg_attribute a
      join pg_type t on t.oid = a.atttypid
      left join pg_type b on b.oid = t.typbasetype
      where a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
    ),
    'indexes', (
      select coalesce(
        jsonb_agg(
          jsonb_build_object('isUnique', i.indisunique, 'isPrimary', i.indisprimary, 'columns', (
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
          jsonb_build_object('column', a.attname, 'schema', n.nspname, 'table', f.relname, 'target', o.attname)
          order by k.oid), '[]')
      from pg_constraint k
      join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1]
      join pg_attribute o on o.attrelid = k.confrelid and o.attnum = k.confkey[1]
      join pg_class f on f.oid = k.confrelid
      join pg_namespace n on n.oid = f.relnamespace
      where k.conrelid = r.oid and k.contype = 'f' and cardinality(k.conkey) = 1
    ))::text as document
from relations r
where r.columns <= :columns_max
order by r.nspname, r.relname;

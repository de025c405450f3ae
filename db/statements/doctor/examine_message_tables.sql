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
  w.relation::regclass::text as table_name,
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

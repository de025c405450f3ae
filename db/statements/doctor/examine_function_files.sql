-- Compares files of db/functions with what was applied last. Returns those that differ: their places from 0, their checksums.
--
--   :names  text[]  the files' names
--   :texts  text[]  their texts
--
-- The checksum of a file whose functions are fitted to the host's tables also covers the facts about these tables that it names
-- and that are true; see tacet.fitted, which may not exist yet.

with files as (
  select f.place, f.name, md5(f.text || coalesce(t.facts, '')) as checksum
  from unnest(:names, :texts) with ordinality as f (name, text, place)
  cross join lateral (
    select string_agg(distinct m.mark[1] || '.' || m.mark[2], ' ') as facts
    from regexp_matches(f.text, ' -- (?:if|unless) (\w+)\.(\w+)$', 'gn') as m (mark)
    join pg_class c on c.relname = m.mark[1]
    join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
    where m.mark[2] = 'partitioned' and c.relkind = 'p'
      or exists (
        select
        from pg_attribute a
        where a.attrelid = c.oid and a.attname = m.mark[2] and a.attnum > 0 and not a.attisdropped
      )
  ) t
)
select f.place::int - 1 as place, f.checksum
from files f
left join tacet.function_files a on a.name = f.name
where a.checksum is distinct from f.checksum
order by f.place;

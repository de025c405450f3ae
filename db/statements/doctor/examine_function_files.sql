-- Compares files of db/functions with what was applied last. Returns those that differ: their places from 0, their checksums.
--
--   :names   text[]  the files' names
--   :texts   text[]  their texts
--   :hidden  text[]  what hides rows of the host: documents of tacet.hidden_rows and tacet.block_tables of this program
--
-- The checksum of a file whose functions are fitted to the host's tables, by tacet.provide or tacet.fitted, also covers which
-- tables and columns that it names are there, and where it asks what hides rows, :hidden. The functions may not exist yet.

with files as (
  select f.place, f.name, md5(f.text || coalesce(t.facts, '') || coalesce(h.facts, '')) as checksum
  from unnest(:names, :texts) with ordinality as f (name, text, place)
  cross join lateral (
    select string_agg(distinct m.relation || coalesce('.' || m.mark, ''), ' ') as facts
    from (
      select x.found[1] as relation, x.found[2] as mark
      from regexp_matches(f.text, ' -- (?:if|unless) (\w+)\.(\w+)$', 'gn') as x (found)
      union all
      select x.found[1], null
      from regexp_matches(f.text, 'public\.(\w+)', 'g') as x (found)
      where f.text ~ 'call tacet.provide'
    ) m
    join pg_class c on c.relname = m.relation
    join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
    where m.mark is null
      or m.mark = 'partitioned' and c.relkind = 'p'
      or exists (
        select
        from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
          and (a.attname = m.mark or a.attname || '_unzoned' = m.mark and a.atttypid = 'timestamp'::regtype)
      )
  ) t
  cross join lateral (
    select string_agg(x.document, '' order by x.place) as facts
    from unnest(:hidden) with ordinality as x (document, place)
    cross join lateral (select x.document::jsonb as known) d
    where d.known ->> 'place' <> 'block' and strpos(f.text, format(' -- if %s.shown', d.known ->> 'table')) > 0
      or coalesce(d.known ->> 'place', 'block') = 'block' and f.name = 'contract_blocks'
  ) h
)
select f.place::int - 1 as place, f.checksum
from files f
left join tacet.function_files a on a.name = f.name
where a.checksum is distinct from f.checksum
order by f.place;

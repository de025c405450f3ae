-- Returns whether the newest rows of a table of messages are found by created_at: it has an index that begins with it, or
-- is small. Without either the database would sort the whole table.
--
--   :table_name  text  the table with its schema

select
  exists (
    select
    from pg_index i
    where i.indrelid = c.oid and i.indisvalid and i.indpred is null and i.indkey[0] = a.attnum
  ) or c.relkind = 'r' and c.reltuples < 100000 and pg_relation_size(c.oid) < 100 * 1024 * 1024 as is_dated
from pg_class c
join pg_attribute a on a.attrelid = c.oid and a.attname = 'created_at' and not a.attisdropped
where c.oid = to_regclass(:table_name);

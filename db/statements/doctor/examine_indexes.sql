-- Returns whether indexes can be used; null for one that is missing.
--
--   :index_names  text[]  their names

select w.name, (
  select bool_or(i.indisvalid and i.indisready and i.indislive)
  from pg_class c
  join pg_index i on i.indexrelid = c.oid
  join pg_namespace n on n.oid = c.relnamespace
  where c.relname = w.name and n.nspname in ('tacet', 'public')
) as is_usable
from unnest(:index_names) as w (name);

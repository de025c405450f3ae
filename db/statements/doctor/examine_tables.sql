-- Returns tables that only some databases have. What reads them cannot be prepared on every database.
--
--   :table_names  text[]  the tables to look for, with their schemas

select n.nspname || '.' || c.relname
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspname || '.' || c.relname = any (:table_names);

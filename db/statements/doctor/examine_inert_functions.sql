-- Returns the functions of the host contract that are inert, because the host has no table for their defaults; see
-- tacet.provide.

select p.proname::text
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
where n.nspname = 'tacet' and p.prosrc like '% -- inert'
order by 1;

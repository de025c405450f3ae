-- Returns the triggers that run functions of schema `tacet`, with their first argument.

select
  t.tgrelid::regclass::text as table_name, t.tgname::text as name, t.tgenabled::text as state,
  p.proname::text as function, split_part(encode(t.tgargs, 'escape'), '\000', 1) as argument
from pg_trigger t
join pg_proc p on p.oid = t.tgfoid
join pg_namespace n on n.oid = p.pronamespace
where n.nspname = 'tacet' and not t.tgisinternal and t.tgparentid = 0
order by 1, 2;

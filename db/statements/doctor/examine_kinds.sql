-- Returns the triggers that each watched kind must have; a null state for one that is missing.

select k.kind, k.source::text as table_name, w.name::text as name, t.tgenabled::text as state
from tacet.kinds k
cross join lateral (
  values (tacet.watch_trigger_name(k.kind, 'happened')), (tacet.watch_trigger_name(k.kind, 'deleted'))
) as w (name)
left join pg_trigger t on t.tgrelid = k.source and t.tgname = w.name
order by 1, 3
limit 1000;

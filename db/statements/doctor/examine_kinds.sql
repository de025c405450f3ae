-- Returns the triggers that each watched kind, and each watched table of Live Activities, must have; a null state for one that is
-- missing. The kind of the latter is `activity:` and the type.

with expected as (
  select k.kind, k.source, tacet.watch_trigger_name(k.kind, h.name) as name
  from tacet.kinds k
  cross join (values ('happened'), ('deleted')) as h (name)
  union all
  select 'activity:' || w.type, w.source, tacet.watch_trigger_name(lower(w.type), 'activity_' || h.name)
  from tacet.watched_activities w
  cross join (values ('insert'), ('update'), ('delete')) as h (name)
)
select e.kind, e.source::text as table_name, e.name::text as name, t.tgenabled::text as state
from expected e
left join pg_trigger t on t.tgrelid = e.source and t.tgname = e.name
order by 1, 3
limit 1000;

-- Returns roles whose sessions run no ordinary triggers in this database, by their settings.

select coalesce(r.rolname::text, 'every role')
from pg_db_role_setting s
left join pg_roles r on r.oid = s.setrole
cross join unnest(s.setconfig) as c (setting)
where c.setting = 'session_replication_role=replica'
  and (s.setdatabase = 0 or s.setdatabase = (select d.oid from pg_database d where d.datname = current_database()))
order by 1;

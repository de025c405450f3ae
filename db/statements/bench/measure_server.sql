-- Returns the server and the session's role: whether the role owns schema tacet, as that of tacet migrate does, or may claim,
-- as the service's does, and whether row-level security applies to it. is_migrated: whether there is a contract. may_call:
-- whether the role may call it.
--
-- About all statements in this folder: `tacet bench` runs them in read-only transactions that it rolls back. Times are the
-- server's clock_timestamp before a call and after it. A select list is evaluated from left to right, and a volatile
-- function keeps the planner from merging it with the query around. `count` of a whole row makes the call return every
-- column, as a claim reads them; a count that is not returned would not be taken.

select
  current_setting('server_version_num')::bigint as version, pg_is_in_recovery() as is_standby, r.rolname::text as role,
  r.rolsuper or r.rolbypassrls as bypasses_row_security,
  coalesce(pg_has_role(n.nspowner, 'usage'), false) as owns_schema,
  coalesce(has_table_privilege(c.oid, 'update'), false) as may_serve, p.oid is not null as is_migrated,
  coalesce(has_schema_privilege(n.oid, 'usage') and has_function_privilege(p.oid, 'execute'), false) as may_call
from pg_roles r
left join pg_namespace n on n.nspname = 'tacet'
left join pg_class c on c.relnamespace = n.oid and c.relname = 'inbox'
left join pg_proc p on p.pronamespace = n.oid and p.proname = 'message_context'
where r.rolname = current_user;

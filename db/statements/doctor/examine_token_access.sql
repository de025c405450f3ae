-- Returns who can read or write device tokens besides the owner, services, superusers and roles that bypass row-level
-- security.
--
-- A policy that lets every row through opens the table; the application judges others. Row-level security keeps no
-- role from truncating a table or from creating triggers on it.

select r.rolname, string_agg(p.privilege, ', ' order by p.place) as privileges
from pg_class c
cross join (
  select 0::oid as oid, 'public'::name as rolname
  union all
  select a.oid, a.rolname
  from pg_roles a
  where not a.rolsuper and not a.rolbypassrls and a.oid >= 16384
) r
cross join (
  values
    (1, 'select', 'r'), (2, 'insert', 'a'), (3, 'update', 'w'), (4, 'delete', 'd'), (5, 'truncate', ''),
    (6, 'trigger', '')
) as p (place, privilege, command)
where c.oid = to_regclass('public.push_tokens') and r.rolname <> current_user
  and (r.oid = 0 or not pg_has_role(r.oid, c.relowner, 'usage'))
  and not has_function_privilege(r.rolname, 'tacet.invalidate_device_token(text, text, timestamptz)', 'execute')
  and (
    has_table_privilege(r.rolname, c.oid, p.privilege)
    or (p.place <= 3 and has_any_column_privilege(r.rolname, c.oid, p.privilege))
  )
  and (
    not c.relrowsecurity or p.command = '' or exists (
      select
      from pg_policy y
      where y.polrelid = c.oid and y.polpermissive and y.polcmd::text in ('*', p.command)
        and exists (
          select
          from unnest(y.polroles) as u (oid)
          where u.oid = 0 or (r.oid <> 0 and pg_has_role(r.oid, nullif(u.oid, 0), 'usage'))
        )
        and 'true' = coalesce(pg_get_expr(y.polqual, c.oid), pg_get_expr(y.polwithcheck, c.oid))
    )
  )
group by r.oid, r.rolname
order by r.oid
limit 20;

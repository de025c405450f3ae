-- The ledger moves to schema tacet. A view public.push_log takes its place.
--
-- The view has security_invoker: its readers need the table's privileges too, and get the rows that the table's policies show
-- them. They need no right on schema tacet. Indexes, constraints, triggers, policies and privileges move with the table, and the
-- view gets the same privileges. Views and functions of the host that use the table follow it.
--
-- An older service writes and reads through the view. Only its pruning of the ledger fails, about hourly, because a view has no
-- ctid; a newer service prunes.
--
-- The view is left out, with a notice, where the role may not create in schema public, where the host has a public.push_log of
-- its own, and on PostgreSQL 14, which has no security_invoker. An older service cannot run there.
--
-- Locks: ACCESS EXCLUSIVE for an instant on push_log; nothing is rewritten.

do $$
declare
  lines text;
  reason text;
begin
  if to_regclass('tacet.push_log') is null then
    alter table public.push_log set schema tacet;
  end if;
  if obj_description(to_regclass('public.push_log'), 'pg_class') = 'Created by tacet migrate.' then
    return;
  end if;

  -- Privileges of the table and of its columns. Default privileges of schema public, as Supabase has them, would add others.
  select concat_ws(e'\n',
    'create view public.push_log with (security_invoker = true) as select * from tacet.push_log;',
    'comment on view public.push_log is ''Created by tacet migrate.'';',
    'revoke all on public.push_log from public;',
    (
      select string_agg(format('revoke all on public.push_log from %I;', r.rolname), e'\n' order by r.rolname)
      from pg_roles r
      where r.rolname in ('anon', 'authenticated')
    ),
    string_agg(
      format('grant %s%s on public.push_log to %s%s;', lower(g.privilege_type), ' (' || quote_ident(g.attname) || ')',
        case when g.grantee = 0 then 'public' else g.grantee::regrole::text end,
        case when g.is_grantable then ' with grant option' end),
      e'\n' order by g.grantee::regrole::text, g.attname nulls first, g.privilege_type))
  into lines
  from (
    select a.*, null::name as attname
    from pg_class c
    cross join lateral aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) a
    where c.oid = 'tacet.push_log'::regclass
    union all
    select a.*, t.attname
    from pg_attribute t
    cross join lateral aclexplode(t.attacl) a
    where t.attrelid = 'tacet.push_log'::regclass and not t.attisdropped
  ) g
  where g.privilege_type in ('SELECT', 'INSERT', 'UPDATE', 'DELETE');

  reason := case
    when to_regclass('public.push_log') is not null then
      'public.push_log is the host''s'
    when current_setting('server_version_num')::int < 150000 then
      'PostgreSQL 14 has no views that show each reader''s own rows'
    when not coalesce((
      select has_schema_privilege(n.oid, 'create') from pg_namespace n where n.nspname = 'public'), false)
    then
      format(e'role %s may not create in schema public\nAs a role that may, if users or dashboards read the ledger:\n%s',
        current_user, lines)
  end;
  if reason is null then
    execute lines;
  else
    raise notice 'tacet: the ledger is tacet.push_log; there is no view public.push_log, because %', reason;
  end if;
end
$$;

-- Where rows belong to users: every table of the schema with a column user_id or only_user. A new table is covered as soon as it
-- exists.
create or replace view tacet.user_columns as
select c.oid::regclass as relation, a.attname as user_column
from pg_catalog.pg_class c
join pg_catalog.pg_attribute a on a.attrelid = c.oid
where c.relnamespace = 'tacet'::regnamespace and c.relkind = 'r' and c.oid <> 'tacet.erasures'::regclass
  and a.attname in ('user_id', 'only_user') and a.atttypid = 'tacet.user_id'::regtype and not a.attisdropped;

insert into tacet.migrations (version, name, oldest_service)
select
  34, '0034_ledger_in_tacet',
  case obj_description(to_regclass('public.push_log'), 'pg_class') when 'Created by tacet migrate.' then 33 else 34 end
on conflict do nothing;

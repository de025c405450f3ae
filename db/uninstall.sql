-- Takes Tacet out of a database: psql -X -f db/uninstall.sql, as the role that migrated. Stop the service before.
--
-- Dropped: schema tacet with everything in it, the view public.push_log, the triggers on the host's tables, the policies that
-- tacet.grant_service made there, and the columns, indexes and storage settings that the migrations added, with their data.
-- Kept: the host's tables and rows, also in tables that --create-host-tables made, whose comment goes; columns and indexes that
-- the host had before; roles and their grants. A view, policy or default of the host that depends on schema tacet stops it, and
-- then nothing is dropped: it is one statement, which tacet migrate runs too where it installs anew.

do $$
declare
  dependents text;
  found record;
begin
  if to_regclass('tacet.host_additions') is null then
    raise exception 'schema tacet is not installed';
  end if;
  perform set_config('lock_timeout', '2s', true), set_config('client_min_messages', 'warning', true);

  if obj_description(to_regclass('public.push_log'), 'pg_class') = 'Created by tacet migrate.' then
    drop view public.push_log;
  end if;

  for found in
    select t.tgname, t.tgrelid::regclass as source
    from pg_trigger t
    join pg_proc p on p.oid = t.tgfoid
    where p.pronamespace = 'tacet'::regnamespace and not t.tgisinternal and t.tgparentid = 0
  loop
    execute format('drop trigger %I on %s', found.tgname, found.source);
  end loop;

  select string_agg(distinct pg_describe_object(d.classid, d.objid, d.objsubid), ', ') into dependents
  from pg_depend d
  cross join lateral pg_identify_object(d.refclassid, d.refobjid, d.refobjsubid) used
  cross join lateral pg_identify_object(d.classid, d.objid, d.objsubid) user_object
  where used.schema = 'tacet' and user_object.schema is distinct from 'tacet'
    and d.deptype = 'n' and user_object.identity !~ '\mtacet\.';
  if dependents is not null then
    raise exception 'these use schema tacet: %', dependents using hint = 'Drop or change them, then uninstall again.';
  end if;

  for found in
    select c.oid::regclass as source, y.polname
    from pg_class c
    left join pg_policy y on y.polrelid = c.oid and y.polname = any (array(
      select left('service ' || r.oid::regrole, 63) from pg_roles r where r.oid = any (y.polroles)))
    where c.relnamespace = 'public'::regnamespace
      and obj_description(c.oid, 'pg_class') = 'Created by tacet migrate --create-host-tables.'
  loop
    if found.polname is not null then
      execute format('drop policy %I on %s', found.polname, found.source);
    end if;
    execute format('comment on table %s is null', found.source);
  end loop;

  for found in
    select case a.kind
      when 'index' then format('drop index if exists public.%I', a.name)
      when 'column' then format('alter table public.%I drop column if exists %I', a.relation, a.name)
      else format(
        'alter table public.%I reset (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, '
        'autovacuum_vacuum_cost_delay)', a.relation)
    end as line
    from tacet.host_additions a
    join pg_class c on c.oid = to_regclass(format('public.%I', a.relation)) and c.relkind in ('r', 'p')
    order by a.kind <> 'index'
  loop
    execute found.line;
  end loop;
  drop schema tacet cascade;
end
$$;

-- Who may use the schema, and which database it is in.

-- The cluster's system identifier, the object id of schema tacet, which a restored dump changes, and the database's name. Runs with
-- its owner's rights, so that the service's role needs none on pg_control_system(); without that right the identifier is left out.
create or replace function tacet.database_identity()
returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return format('%s/%s/%s', (pg_control_system()).system_identifier, 'tacet'::regnamespace::oid, current_database());
exception
  when insufficient_privilege then
    return format('schema %s/%s', 'tacet'::regnamespace::oid, current_database());
end
$$;

-- Makes a copy of another database a separate one: drops what waits to be pushed and the webhook's address, and writes the new
-- identity. Returns the rows dropped, by table. keeps_waiting: drops nothing, for a database that has moved.
create or replace function tacet.adopt_database(keeps_waiting boolean)
returns table (what text, dropped bigint)
language plpgsql volatile
as $$
declare
  condition text;
begin
  update tacet.settings s
  set
    database_identity = tacet.database_identity(),
    webhook_url = case when keeps_waiting then s.webhook_url end,
    webhook_secret = case when keeps_waiting then s.webhook_secret end;
  if keeps_waiting then
    return;
  end if;
  delete from tacet.changed_rows;
  for what, condition in
    values
      -- First, because the next three tables say which of them wait.
      ('pushes', 'id::tacet.subject_id in (
        select subject_id from tacet.inbox union all select subject_id from tacet.deliveries
        union all select subject_id from tacet.parked)'),
      ('inbox', 'true'), ('deliveries', 'true'), ('parked', 'true'), ('trigger_failures', 'subject_ids <> ''{}'''),
      ('activities', 'ended_at is null'), ('read_syncs', 'true'), ('occasions', 'slot = '''' and status = ''scheduled'''),
      ('unread_checks', 'true'), ('host_events', 'state = ''waiting''')
  loop
    execute format('delete from tacet.%I where %s', what, condition);
    get diagnostics dropped = row_count;
    return next;
  end loop;
end
$$;

-- Closes a table: turns row-level security on, and revokes all rights of public and of Supabase's roles for users.
create or replace function tacet.close_table(source regclass)
returns void
language plpgsql volatile
as $$
declare
  stranger text;
begin
  if not (select c.relrowsecurity from pg_class c where c.oid = source) then
    execute format('alter table %s enable row level security', source);
  end if;
  if exists (
    select from pg_class c, aclexplode(c.relacl) a
    where c.oid = source and a.grantee = 0
  ) then
    execute format('revoke all on %s from public', source);
  end if;
  for stranger in
    select distinct r.rolname
    from pg_roles r
    where r.rolname in ('anon', 'authenticated') and (
      exists (select from pg_class c, aclexplode(c.relacl) a where c.oid = source and a.grantee = r.oid)
      or exists (
        select from pg_attribute t, aclexplode(t.attacl) a where t.attrelid = source and a.grantee = r.oid
      ))
  loop
    execute format('revoke all on %s from %I', source, stranger);
  end loop;
end
$$;

-- Gives a service with a separate role what it needs of this schema, and revokes what would give it more: trigger functions
-- run with their owner's rights, what tacet.watch is given becomes part of one, campaigns name functions that the service
-- calls, the settings have the webhook's secret and address, tacet.erasures names tables that a function reads with its owner's
-- rights, and an update trusts what an earlier one has installed. A policy lets the role through the row-level security of each
-- table, and of the host's tables that Tacet has created.
create or replace function tacet.grant_service(service regrole)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  reserved regprocedure;
  source regclass;
  policy name := left('service ' || service::text, 63);
begin
  execute format('grant usage on schema tacet to %s', service);
  execute format('grant select, insert, update, delete on all tables in schema tacet to %s', service);
  execute format(
    'revoke insert, update, delete on tacet.kinds, tacet.push_kinds, tacet.campaigns, tacet.default_bodies, tacet.function_files, '
    'tacet.host_additions, tacet.activity_types, tacet.watched_activities, tacet.texts, tacet.announcements, tacet.escalations, '
    'tacet.erasures, tacet.migrations, tacet.notif_config, tacet.time_zones from %s',
    service);
  execute format('revoke all on tacet.settings from %s', service);
  execute format(
    'grant select (is_only_row, notify_enabled, listening_until, database_identity, webhook_url, has_webhook_secret), '
    'update (listening_until) on tacet.settings to %s', service);
  for source in
    select c.oid
    from pg_class c
    where c.relkind in ('r', 'p')
      and (
        c.relnamespace = 'tacet'::regnamespace
        or (
          c.relnamespace = 'public'::regnamespace
          and obj_description(c.oid, 'pg_class') = 'Created by tacet migrate --create-host-tables.'))
      and (c.relowner <> service or c.relforcerowsecurity) and pg_has_role(c.relowner, 'usage')
      and not exists (select from pg_policy p where p.polrelid = c.oid and p.polroles @> array[service::oid])
  loop
    execute format('create policy %I on %s to %s using (true) with check (true)', policy, source, service);
  end loop;
  execute format('grant execute on all functions in schema tacet to %s', service);
  for reserved in
    select p.oid
    from pg_proc p
    where p.pronamespace = 'tacet'::regnamespace
      and (
        p.prorettype = 'trigger'::regtype
        or p.proname in (
          'watch', 'unwatch', 'watch_activity', 'unwatch_activity', 'localise', 'unlocalise', 'announce',
          'grant_service', 'grant_services', 'close_table', 'adopt_database'))
  loop
    execute format('revoke execute on function %s from %s', reserved, service);
  end loop;
end
$$;

-- Closes the tables of the schema, and grants them to every service with a separate role. The last act of an installation. The
-- ledger keeps its privileges: users read their own rows, by its policies, and hosts may grant it to others.
create or replace function tacet.grant_services()
returns void
language plpgsql volatile
as $$
declare
  grantee regrole;
begin
  perform tacet.close_table(c.oid)
  from pg_class c
  where c.relnamespace = 'tacet'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'push_log';
  for grantee in
    select a.grantee
    from pg_proc p, aclexplode(p.proacl) a
    where p.oid = 'tacet.invalidate_device_token(text, text, timestamptz)'::regprocedure
      and a.privilege_type = 'EXECUTE' and a.grantee not in (0, p.proowner)
  loop
    perform tacet.grant_service(grantee);
  end loop;
end
$$;

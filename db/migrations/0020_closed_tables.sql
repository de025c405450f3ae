-- Tables that nobody but their owner and the service can use, secrets that the service's role does not read, and a database
-- that knows which one it is.
--
-- Locks: ACCESS EXCLUSIVE for an instant on tables of schema tacet, on push_log, and on those host tables that Tacet has
-- created itself; nothing is rewritten. A running older service is not affected.

-- Which database this is: the cluster's system identifier and the database's name. A standby that is promoted keeps it, a
-- dump that is restored elsewhere does not. Null: nobody has said yet.
alter table tacet.settings add column if not exists database_identity text;

comment on column tacet.settings.database_identity is
  'the database that this row was written in; tacet serve refuses to start in another one until tacet adopt';

-- Whether there is a secret, for roles that may not read it.
alter table tacet.settings
  add column if not exists has_webhook_secret boolean generated always as (webhook_secret is not null) stored;

-- Runs with its owner's rights, so that the service's role needs none on pg_control_system(). Where the owner has none
-- either, the object id of schema tacet takes its place, which a restored dump gives anew.
create or replace function tacet.database_identity()
returns text
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return format('%s/%s', (pg_control_system()).system_identifier, current_database());
exception
  when insufficient_privilege then
    return format('schema %s/%s', 'tacet'::regnamespace::oid, current_database());
end
$$;

-- Makes a copy of another database a database of its own: drops what waits to be pushed, and the address that triggers post
-- to, and notes the new identity. Returns how many rows went, by table. Nothing is dropped with keeps_waiting, for a database
-- that has only moved.
create or replace function tacet.adopt_database(keeps_waiting boolean)
returns table (what text, dropped bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  update tacet.settings s
  set
    database_identity = tacet.database_identity(),
    webhook_url = case when keeps_waiting then s.webhook_url end,
    webhook_secret = case when keeps_waiting then s.webhook_secret end;
  if keeps_waiting then
    return;
  end if;
  delete from tacet.pushes p
  where exists (select from tacet.inbox i where i.subject_id = p.id)
    or exists (select from tacet.deliveries d where d.subject_id = p.id)
    or exists (select from tacet.parked k where k.subject_id = p.id);
  get diagnostics dropped = row_count;
  what := 'pushes';
  return next;
  delete from tacet.inbox;
  get diagnostics dropped = row_count;
  what := 'inbox';
  return next;
  delete from tacet.deliveries;
  get diagnostics dropped = row_count;
  what := 'deliveries';
  return next;
  delete from tacet.parked;
  get diagnostics dropped = row_count;
  what := 'parked';
  return next;
  delete from tacet.trigger_failures f where f.subject_ids <> '{}';
  get diagnostics dropped = row_count;
  what := 'trigger_failures';
  return next;
  delete from tacet.read_syncs;
  get diagnostics dropped = row_count;
  what := 'read_syncs';
  return next;
  delete from tacet.campaign_decisions d where d.decision is null;
  get diagnostics dropped = row_count;
  what := 'campaign_decisions';
  return next;
end
$$;

-- Wakes the service, unless none listens, or it says by its lock that it is awake and polling.
--
-- NOTIFY takes a lock for the whole database from before the commit's flush until after it, so a NOTIFY in every insert
-- turns concurrent commits into a queue. A busy service therefore holds the advisory lock (1952539493, 1) exclusively,
-- and the try below fails without waiting.
--
-- first_subject_id: what a webhook names; null posts none, and only notifies. The secret is read for a post alone, which
-- only triggers ask for, with their owner's rights. It is handed to functions of the extension pg_net alone: any other
-- net.http_post may be the work of a role that can create functions there.
create or replace function tacet.wake(first_subject_id uuid)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  url text;
  secret text;
  body jsonb;
begin
  if exists (
    select from tacet.settings s where s.notify_enabled and s.listening_until > clock_timestamp()
  ) and pg_try_advisory_xact_lock_shared(1952539493, 1) then
    perform pg_notify('tacet', '');
  end if;
  if first_subject_id is null then
    return;
  end if;
  select s.webhook_url, s.webhook_secret into url, secret from tacet.settings s;
  if url is not null and secret is not null and tacet.has_http_post() then
    -- Apart from the notification, which an error here would take back.
    begin
      body := jsonb_build_object('message_id', first_subject_id);
      execute 'select net.http_post(url := $1, body := $2, headers := $3)'
        using url, body, tacet.webhook_headers(body::text, secret);
    exception
      when others then
        perform tacet.count_trigger_failure(sqlstate, sqlerrm);
    end;
  end if;
end
$$;

-- Whether there is net.http_post, and each function of that name is a member of the extension pg_net.
create or replace function tacet.has_http_post()
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(bool_and(exists (
    select
    from pg_depend d
    join pg_extension e on e.oid = d.refobjid
    where d.classid = 'pg_proc'::regclass and d.objid = p.oid
      and d.refclassid = 'pg_extension'::regclass and d.deptype = 'e' and e.extname = 'pg_net'
  )), false)
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = 'net' and p.proname = 'http_post'
$$;

-- Publications FOR ALL TABLES refuse to update or delete rows that have no identity. Both tables are nearly empty.
alter table tacet.trigger_failures replica identity full;
alter table tacet.parked replica identity full;

-- Closes a table: row-level security is on, and neither everybody nor Supabase's roles for its users have a right on it.
create or replace function tacet.close_table(source regclass)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  stranger text;
begin
  if not (select c.relrowsecurity from pg_class c where c.oid = source) then
    execute format('alter table %s enable row level security', source);
  end if;
  if exists (
    select
    from pg_class c, aclexplode(c.relacl) a
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

-- Gives a service with a role of its own what it needs of this schema, and takes from it what would give it more: trigger
-- functions run with their owner's rights, what tacet.watch is told becomes part of one, campaigns name functions that the
-- service calls, and the row of settings has the secret of webhooks and says where they go. A policy lets it through the
-- row-level security of each table, and of the host's tables that Tacet has created.
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
  execute format('revoke insert, update, delete on tacet.kinds, tacet.campaigns from %s', service);
  execute format('revoke all on tacet.settings from %s', service);
  execute format(
    'grant select (is_only_row, notify_enabled, listening_until, database_identity, webhook_url, has_webhook_secret), '
    'update (listening_until) on tacet.settings to %s', service);
  for source in
    select c.oid
    from pg_class c
    where c.relkind in ('r', 'p')
      and (
        c.relnamespace = 'tacet'::regnamespace or c.oid = to_regclass('public.push_log')
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
        or p.proname in ('watch', 'unwatch', 'grant_service', 'grant_services', 'close_table', 'adopt_database'))
  loop
    execute format('revoke execute on function %s from %s', reserved, service);
  end loop;
end
$$;

-- Closes what a migration has made, and gives it to every service with a role of its own; the last act of each that makes
-- something.
create or replace function tacet.grant_services()
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  grantee regrole;
begin
  perform tacet.close_table(c.oid)
  from pg_class c
  where c.relnamespace = 'tacet'::regnamespace and c.relkind in ('r', 'p');
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

-- Users of Supabase read their own rows of the ledger by its policy, and change none.
do $$
begin
  perform tacet.close_table('public.push_log');
  if to_regrole('authenticated') is not null then
    grant select on public.push_log to authenticated;
  end if;
end
$$;

-- Host tables that an earlier 0001 has created stand open. That it did so shows in the catalogs: their first columns and the
-- columns that it added to two tables are of one transaction, and not of the one that made tacet.migrations.
-- A table that the application had, or that came out of a dump, is left alone, and so is one that has row-level security:
-- tacet doctor says who can read tokens there. Roles with a grant of their own keep what it gave them.
do $$
declare
  ours xid := (
    select t.xmin
    from pg_attribute t
    join pg_attribute p on p.attrelid = to_regclass('public.conversation_participants') and p.attname = 'left_at'
    where t.attrelid = to_regclass('public.push_tokens') and t.attname = 'registered_at' and t.xmin = p.xmin
  );
  created regclass;
  kept regrole;
begin
  if ours is null or ours = (
    select a.xmin from pg_attribute a where a.attrelid = 'tacet.migrations'::regclass and a.attname = 'version'
  ) then
    return;
  end if;
  for created in
    select c.oid
    from unnest(array['profiles', 'conversations', 'conversation_participants', 'messages', 'push_tokens']) as t (name)
    join pg_class c on c.oid = to_regclass('public.' || t.name)
    where c.relkind = 'r' and not c.relrowsecurity and pg_has_role(c.relowner, 'usage')
      and (select a.xmin from pg_attribute a where a.attrelid = c.oid and a.attnum = 1) = ours
  loop
    perform tacet.close_table(created);
    for kept in
      select distinct a.grantee
      from pg_class c, aclexplode(c.relacl) a
      where c.oid = created and a.grantee not in (0, c.relowner)
    loop
      execute format(
        'create policy %I on %s to %s using (true) with check (true)', left('granted ' || kept::text, 63), created, kept);
    end loop;
    execute format('comment on table %s is %L', created, 'Created by tacet migrate --create-host-tables.');
  end loop;
end
$$;

update tacet.settings s set database_identity = tacet.database_identity() where s.database_identity is null;

revoke all on all functions in schema tacet from public;

do $$
begin
  perform tacet.grant_services();
end
$$;

insert into tacet.migrations (version, name) values (20, '0020_closed_tables') on conflict do nothing;

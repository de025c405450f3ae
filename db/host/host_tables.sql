-- The tables of the default host contract, for a database that has no application in it yet.
--
-- Applied before 0027_host_tables, and only by `tacet migrate --create-host-tables`. It creates all of them in a database without
-- tables of an application, and otherwise not one: in a host with tables of its own they would be strangers. Schemas that
-- Supabase makes, tables of extensions and the ledger do not count.
--
-- On Supabase, default privileges would open every new table in schema public to anon and authenticated: so row-level security
-- is on and the application says by policies of its own who may do what. The comment marks a table as created here;
-- `tacet doctor` and later migrations read it.
--
-- Locks: only new objects.

do $$
declare
  wanted record;
  stranger text;
  application text;
begin
  select string_agg(format('%I.%I', n.nspname, c.relname), ', ' order by n.nspname, c.relname) into application
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^pg_' and n.nspname not in (
      'information_schema', 'tacet', 'auth', 'storage', 'realtime', 'vault', 'extensions', 'graphql', 'graphql_public', 'net',
      'cron', 'pgsodium', 'pgbouncer', 'supabase_functions', 'supabase_migrations')
    and c.oid is distinct from to_regclass('public.push_log')
    and not exists (
      select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e'
    );
  if application is not null then
    if exists (
      select
      from unnest(array['profiles', 'conversations', 'conversation_participants', 'messages', 'push_tokens']) as t (name)
      where to_regclass('public.' || t.name) is null)
    then
      raise notice 'tacet: the database has tables of its own (%), so no host table is created', left(application, 200);
    end if;
    return;
  end if;
  for wanted in
    select *
    from (
      values
        (1, 'profiles', $ddl$
          id uuid primary key default gen_random_uuid(),
          name text
        $ddl$),
        (2, 'conversations', $ddl$
          created_at timestamptz not null default now(),
          id uuid primary key default gen_random_uuid()
        $ddl$),
        (3, 'conversation_participants', $ddl$
          conversation_id uuid not null references public.conversations (id) on delete cascade,
          user_id uuid not null references public.profiles (id) on delete cascade,
          primary key (conversation_id, user_id)
        $ddl$),
        (4, 'messages', $ddl$
          created_at timestamptz not null default now(),
          updated_at timestamptz not null default now(),
          id uuid primary key default gen_random_uuid(),
          conversation_id uuid not null references public.conversations (id) on delete cascade,
          from_id uuid not null references public.profiles (id) on delete cascade,
          text text,
          read_by uuid[] not null default '{}'
        $ddl$),
        (5, 'push_tokens', $ddl$
          user_id uuid not null references public.profiles (id) on delete cascade,
          device_token text primary key,
          platform text not null default 'ios'
        $ddl$)
    ) as t (place, name, columns)
    order by t.place
  loop
    execute format('create table public.%I (%s)', wanted.name, wanted.columns);
    execute format('alter table public.%I enable row level security', wanted.name);
    execute format('revoke all on public.%I from public', wanted.name);
    for stranger in select r.rolname from pg_roles r where r.rolname in ('anon', 'authenticated') loop
      execute format('revoke all on public.%I from %I', wanted.name, stranger);
    end loop;
    execute format('comment on table public.%I is %L', wanted.name, 'Created by tacet migrate --create-host-tables.');
  end loop;
end
$$;

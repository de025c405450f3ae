-- The tables of the default host contract, for a database that has no application in it yet.
--
-- Applied before 0001_host_tables, and only by `tacet migrate --create-host-tables`. A table that is there already is left
-- alone. On Supabase, default privileges would open every new table in schema public to anon and authenticated: so
-- row-level security is on and the application says by policies of its own who may do what. The comment marks a table as
-- created here; `tacet doctor` and later migrations read it.
--
-- Locks: only new objects.

do $$
declare
  wanted record;
  stranger text;
begin
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
    where to_regclass(format('public.%I', t.name)) is null
    order by t.place
  loop
    begin
      execute format('create table public.%I (%s)', wanted.name, wanted.columns);
    exception
      when invalid_foreign_key or datatype_mismatch or wrong_object_type then
        raise exception e'not wired: public.% cannot be created beside the tables that are there: %\nGive their columns id the '
          'type uuid and a primary key, or create the table yourself.', wanted.name, sqlerrm
          using errcode = 'TC001';
    end;
    execute format('alter table public.%I enable row level security', wanted.name);
    execute format('revoke all on public.%I from public', wanted.name);
    for stranger in select r.rolname from pg_roles r where r.rolname in ('anon', 'authenticated') loop
      execute format('revoke all on public.%I from %I', wanted.name, stranger);
    end loop;
    execute format('comment on table public.%I is %L', wanted.name, 'Created by tacet migrate --create-host-tables.');
  end loop;
end
$$;

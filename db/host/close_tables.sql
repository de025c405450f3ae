-- Closes the tables that an early version has left open, before the migrations: each in a transaction of its own, so that no
-- table is locked while it waits for another one. tacet migrate runs it. It does nothing where every table is closed already.
--
-- Locks: ACCESS EXCLUSIVE on one table at a time, for an instant. It waits 40 ms for it and tries again for 20 s, so that the
-- host's inserts wait no longer, and the trigger on messages, which gives up after 100 ms, loses none. Within the migrations the
-- same statements would hold tacet.inbox and tacet.trigger_failures while they wait for the ledger or for the host's tables.
--
-- Migrations and functions close what is open, too. They find nothing left: 0028 and tacet.close_table pass over closed tables.

do $$
declare
  sources regclass[];
  source regclass;
  stranger name;
  kept regrole;
  is_host boolean;
  is_closed boolean;
  -- Host tables that an early version created; see 0028_host_triggers.
  ours xid;
begin
  if to_regclass('tacet.migrations') is null then
    return;
  end if;
  -- What is older is refused by the migrations, unchanged.
  if (select max(m.version) from tacet.migrations m) < 19 then
    return;
  end if;
  ours := (
    select t.xmin
    from pg_attribute t
    join pg_attribute p
      on p.attrelid = to_regclass('public.conversation_participants') and p.attname = 'left_at' and t.xmin = p.xmin
    where t.attrelid = to_regclass('public.push_tokens') and t.attname = 'registered_at'
      and t.xmin <> (
        select a.xmin from pg_attribute a where a.attrelid = 'tacet.migrations'::regclass and a.attname = 'version')
      and (select max(m.version) from tacet.migrations m) < 20);
  sources := array(
    select c.oid
    from pg_class c
    where c.relkind in ('r', 'p') and not c.relrowsecurity and pg_has_role(c.relowner, 'usage')
      and (
        c.relnamespace = 'tacet'::regnamespace
        or c.oid = to_regclass('public.push_log')
        or (
          c.oid = any (array[
            to_regclass('public.profiles'), to_regclass('public.conversations'), to_regclass('public.messages'),
            to_regclass('public.conversation_participants'), to_regclass('public.push_tokens')])
          and (select a.xmin from pg_attribute a where a.attrelid = c.oid and a.attnum = 1) = ours))
    order by c.oid);
  foreach source in array sources loop
    is_host := (
      select c.relnamespace = 'public'::regnamespace and c.relname <> 'push_log' from pg_class c where c.oid = source);
    for try in 1..200 loop
      is_closed := true;
      begin
        perform set_config('lock_timeout', '40ms', true);
        execute format('alter table %s enable row level security', source);
        -- Whoever has rights keeps them. The ledger is read by its users' own policy.
        for kept in
          select distinct a.grantee
          from pg_class c
          cross join aclexplode(c.relacl) a
          join pg_roles r on r.oid = a.grantee
          where c.oid = source and a.grantee not in (0, c.relowner) and r.rolname not in ('anon', 'authenticated')
            and (is_host or a.privilege_type = 'INSERT')
            and not exists (select from pg_policy p where p.polrelid = source and p.polroles @> array[a.grantee])
        loop
          execute format(
            'create policy %I on %s to %s using (true) with check (true)',
            left(case when is_host then 'granted ' else 'service ' end || kept::text, 63), source, kept);
        end loop;
        if is_host then
          execute format('revoke all on %s from public', source);
          for stranger in select r.rolname from pg_roles r where r.rolname in ('anon', 'authenticated') loop
            execute format('revoke all on %s from %I', source, stranger);
          end loop;
          execute format('comment on table %s is %L', source, 'Created by tacet migrate --create-host-tables.');
        end if;
      exception
        when lock_not_available or deadlock_detected then
          is_closed := false;
      end;
      commit;
      exit when is_closed;
      perform pg_sleep(0.06);
    end loop;
    if not is_closed then
      raise exception 'the lock on table % is never free', source using errcode = 'lock_not_available';
    end if;
  end loop;
end
$$;

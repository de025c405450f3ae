-- How the other files are applied. Files are applied in the order of their names: this one is the first, and what defaults of
-- the host contract call comes before contract_*.

set check_function_bodies = off;

-- Registers a kind of push, or replaces its functions. event_kind: the kind of its events; null where hosts or servers name them.
create or replace procedure tacet.register_kind(name text, event_kind text, content text, audience text)
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into tacet.push_kinds as k (name, event_kind, content, audience)
  values (register_kind.name, register_kind.event_kind, register_kind.content, register_kind.audience)
  on conflict on constraint push_kinds_pkey do update
  set event_kind = excluded.event_kind, content = excluded.content, audience = excluded.audience
$$;

-- Makes way for a function of another signature: drops the one that is installed. Where views, policies, triggers or defaults
-- depend on it, it is renamed instead, and they keep using it.
--
-- signature: as 'seen_by(uuid)'. result: of the new function, as pg_get_function_result writes it; a function with that result
-- already is left alone. Null when the arguments differ, or when there is no new function.
create or replace procedure tacet.retire(signature text, result text default null)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  installed regprocedure := to_regprocedure('tacet.' || signature);
  retired name;
begin
  if installed is null or pg_get_function_result(installed) = result then
    return;
  end if;
  begin
    execute format('drop function %s', installed);
  exception
    when dependent_objects_still_exist then
      retired := format('%s_retired_%s', left(split_part(signature, '(', 1), 40), installed::oid);
      execute format('alter function %s rename to %I', installed, retired);
      raise notice 'tacet: % is replaced; what depends on it now uses tacet.%', signature, retired;
  end;
end
$$;

-- Installs the default of a function of the host contract. A body that is not in tacet.default_bodies is the host's, and stays.
--
-- definition: one "create or replace function". is_tried: whether it is called with nulls, because a host with other tables
-- should learn of it now and not from a service that cannot claim. inert: a body, in SQL, for a host where that call fails;
-- without one the default stays, and fails when the service calls it.
create or replace procedure tacet.provide(
  signature text, definition text, is_tried boolean default false, inert text default null
)
language plpgsql
set search_path = pg_catalog, pg_temp
set check_function_bodies = off
as $$
declare
  called text := split_part(signature, '(', 1);
  installed regprocedure := to_regprocedure('tacet.' || signature);
begin
  if installed is not null and not exists (
    select
    from pg_proc p
    join tacet.default_bodies b on b.name = called and b.body = md5(regexp_replace(p.prosrc, '\s+', ' ', 'g'))
    where p.oid = installed
  ) then
    return;
  end if;
  begin
    execute definition;
  exception
    -- Another result, or other names of arguments.
    when invalid_function_definition then
      call tacet.retire(signature);
      execute definition;
  end;
  installed := to_regprocedure('tacet.' || signature);
  insert into tacet.default_bodies (name, body)
  select called, md5(regexp_replace(d.body, '\s+', ' ', 'g'))
  from (select p.prosrc from pg_proc p where p.oid = installed union all select inert) as d (body)
  where d.body is not null
  on conflict do nothing;
  if is_tried or inert is not null then
    begin
      execute format(
        'select from tacet.%I(%s)', called,
        (select string_agg(format('null::%s', a.type::regtype), ', ' order by a.place)
         from pg_proc p
         cross join unnest(p.proargtypes) with ordinality as a (type, place)
         where p.oid = installed));
    exception
      -- The migrator tries again.
      when lock_not_available then
        raise;
      when others then
        if inert is not null then
          execute (
            select format(
              'create or replace function tacet.%I(%s) returns %s language sql %s as %L',
              called, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
              case p.provolatile when 'v' then 'volatile' else 'stable' end, inert)
            from pg_proc p
            where p.oid = installed);
        end if;
        raise notice 'tacet: the host tables differ from the default (%); replace tacet.%', sqlerrm, called;
    end;
  end if;
end
$$;

-- The last step: closes what was made, gives it to every service with a role of its own, and writes what depends on the
-- server. Every tacet migrate calls it, because the server's tz database grows.
create or replace procedure tacet.finish_applying()
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  opened regprocedure;
begin
  for opened in
    select p.oid
    from pg_proc p
    where p.pronamespace = 'tacet'::regnamespace and pg_has_role(p.proowner, 'usage')
      and (p.proacl is null or exists (select from aclexplode(p.proacl) a where a.grantee = 0))
  loop
    execute format('revoke all on routine %s from public', opened);
  end loop;
  perform tacet.grant_services();
  perform tacet.learn_time_zones();
  update tacet.settings s set database_identity = tacet.database_identity() where s.database_identity is null;
end
$$;

reset check_function_bodies;

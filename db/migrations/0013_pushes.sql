-- Pushes that another server asks for: what they say, to whom, and by which key the request may come again.
--
-- Locks: new objects only. Services of an older version take what is queued here for an event that is gone: stop them before.

-- kind: as the ledger and the payload name it. data: the app's own, as it will be sent: jsonb would write numbers in another
-- form, of any length. idempotency_key: of the request, for as long as the row is kept.
create table if not exists tacet.pushes (
  created_at timestamptz not null default clock_timestamp(),
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null,
  kind text not null,
  title text not null,
  body text not null,
  collapse_id text,
  idempotency_key text,
  data json
);

create unique index if not exists pushes_idempotency_key_idx on tacet.pushes (idempotency_key)
  where idempotency_key is not null;
create index if not exists pushes_created_idx on tacet.pushes (created_at);
create index if not exists pushes_user_idx on tacet.pushes (user_id);

-- A deleted user's ledger, preferences and pushes go with the user.
create or replace function tacet.forget_deleted_profiles()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
begin
  delete from public.push_log l using deleted where l.user_id = deleted.id;
  delete from tacet.deliveries d using deleted where d.user_id = deleted.id;
  delete from tacet.preferences p using deleted where p.user_id = deleted.id;
  delete from tacet.conversation_preferences c using deleted where c.user_id = deleted.id;
  delete from tacet.pushes p using deleted where p.user_id = deleted.id;
  return null;
exception
  when others then
    perform tacet.count_trigger_failure(sqlstate, sqlerrm);
    return null;
end
$$;

-- Gives a service with a role of its own what it needs of this schema, and takes from it what would give it more: trigger
-- functions run with their owner's rights, on any table that a trigger of theirs is made on, and what tacet.watch is told
-- becomes part of one. Later migrations call it for those who have it already.
create or replace function tacet.grant_service(service regrole)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  reserved regprocedure;
begin
  execute format('grant usage on schema tacet to %s', service);
  execute format('grant select, insert, update, delete on all tables in schema tacet to %s', service);
  execute format('revoke insert, update, delete on tacet.kinds from %s', service);
  execute format('grant execute on all functions in schema tacet to %s', service);
  for reserved in
    select p.oid
    from pg_proc p
    where p.pronamespace = 'tacet'::regnamespace
      and (p.prorettype = 'trigger'::regtype or p.proname in ('watch', 'unwatch', 'grant_service'))
  loop
    execute format('revoke execute on function %s from %s', reserved, service);
  end loop;
end
$$;

revoke all on all functions in schema tacet from public;

-- A service with a role of its own may use what this migration and the four before it have made.
do $$
declare
  grantee regrole;
begin
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

insert into tacet.migrations (version, name) values (13, '0013_pushes') on conflict do nothing;

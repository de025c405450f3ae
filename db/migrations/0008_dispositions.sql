-- What a push learns from APNs' answers: where a device token really works, and how often a push was put off.
--
-- Locks: ADD COLUMN takes ACCESS EXCLUSIVE on tacet.deliveries for an instant and rewrites nothing. Stop services of an
-- older version before: what they record waits for lanes that nobody serves any more.

-- retries: how often APNs' answers have put this push off, apart from what its lane went through; the waits double by it.
alter table tacet.deliveries add column if not exists retries int not null default 0;

-- A lane was an environment; it is an app and an environment now, as in com.example.app/production. What waits for one of
-- the old names is tried on its own, and finds its lane by that. A row under a claim keeps its lease.
update tacet.deliveries d
set state = 'retryable', lane = null, due_at = case when d.is_claimed then d.due_at else now() end
where d.state = 'waiting' and strpos(d.lane, '/') = 0;

-- Part of the host contract: notes the environment in which APNs has accepted a device token, after the one that its
-- registration named, or the service's default, had refused it.
--
-- Only while the token's row says what was read when the push was claimed: registered_* are its environment and app then,
-- null where it said nothing, and a registration after read_at wins, whatever it says. A host with tables of its own
-- replaces it with create or replace function; one that keeps no environments replaces it by a function that does nothing.
set check_function_bodies = off;

create or replace function tacet.learn_token_environment(
  device_token text, environment text, registered_environment text, registered_app text, read_at timestamptz
)
returns void
language sql volatile
as $$
  update public.push_tokens t
  set environment = learn_token_environment.environment
  where t.device_token = learn_token_environment.device_token
    and t.environment is not distinct from learn_token_environment.registered_environment
    and t.app is not distinct from learn_token_environment.registered_app
    and t.registered_at <= learn_token_environment.read_at
$$;

reset check_function_bodies;

-- What cannot work is not called at all: where the table is another one, or its columns are of other types, nothing is
-- learnt until the host has replaced the function.
do $$
begin
  perform tacet.learn_token_environment(null, null, null, null, null);
exception
  when others then
    create or replace function tacet.learn_token_environment(
      device_token text, environment text, registered_environment text, registered_app text, read_at timestamptz
    )
    returns void
    language sql volatile
    as 'select';
    raise notice 'tacet: the host tables differ from the default (%); replace tacet.learn_token_environment', sqlerrm;
end
$$;

revoke all on all functions in schema tacet from public;

-- A service with a role of its own may call what its role may call already.
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
    execute format(
      'grant execute on function tacet.learn_token_environment(text, text, text, text, timestamptz) to %s', grantee);
  end loop;
end
$$;

insert into tacet.migrations (version, name) values (8, '0008_dispositions') on conflict do nothing;

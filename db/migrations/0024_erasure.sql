-- What is known of a deleted user goes, whatever is locked meanwhile: the trigger on profiles notes the user, and the
-- service deletes the rows.
--
-- Locks: new objects; dropping a trigger takes ACCESS EXCLUSIVE on profiles for an instant. An older service keeps running,
-- and erases nothing: users who are deleted meanwhile are erased when a newer one starts.

-- Users whose rows are to be deleted. asked_at: when the host deleted them. begun_at: the first pass over their rows; due_at:
-- the next one. is_clean: whether the last pass left nothing. source: the table of which the user was a row; null when
-- nobody said so.
--
-- No key of the user: an insert that meets one waits for the session that has written it, and this is written in the host's
-- transaction.
create table if not exists tacet.erasures (
  asked_at timestamptz not null default clock_timestamp(),
  due_at timestamptz not null default clock_timestamp(),
  begun_at timestamptz,
  id bigint generated always as identity primary key,
  user_id uuid not null,
  source regclass,
  is_clean boolean not null default false
);

create index if not exists erasures_due_idx on tacet.erasures (due_at);

-- Where rows belong to users: every table of the schema that has a column user_id or only_user, and the ledger. A new one is
-- covered as soon as it is made.
create or replace view tacet.user_columns as
select c.oid::regclass as relation, a.attname as user_column
from pg_catalog.pg_class c
join pg_catalog.pg_attribute a on a.attrelid = c.oid
where (c.relnamespace = 'tacet'::regnamespace or c.oid = to_regclass('public.push_log'))
  and c.relkind = 'r' and c.oid <> 'tacet.erasures'::regclass
  and a.attname in ('user_id', 'only_user') and a.atttypid = 'uuid'::regtype and not a.attisdropped;

-- Notes deleted rows of a table of users, by their ids. It waits for no row. If it cannot note them, because the table is
-- locked as a whole, it leaves them among the failures, where the service finds them.
create or replace function tacet.forget_deleted_profiles()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
begin
  insert into tacet.erasures (user_id, source) select d.id, tg_relid::regclass from deleted d;
  return null;
exception
  when others then
    begin
      insert into tacet.trigger_failures (sqlstate, message, kind, subject_ids)
      values (sqlstate, sqlerrm, 'erasure', array(select d.id from deleted d));
    exception
      when others then
        raise warning 'tacet: the rows of a deleted user stay: % (%)', sqlerrm, sqlstate;
    end;
    return null;
end
$$;

-- For hosts whose users are in other tables: call it when one is deleted, from a trigger or a job.
create or replace function tacet.forget_user(user_id uuid)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into tacet.erasures (user_id) values (forget_user.user_id)
$$;

-- What it deleted is in those tables. A host may have put the function on a table of its own.
drop trigger if exists tacet_profile_views_deleted on public.profiles;

do $$
begin
  drop function if exists tacet.forget_views_of_profiles();
exception
  when dependent_objects_still_exist then
    null;
end
$$;

-- One pass over users who are to be forgotten, at most so many users, and so many rows of each table. Rows that another
-- session has locked are left to the next pass.
--
-- A push that was under way when its user was deleted may still be recorded. So passes go on, at growing distances, until
-- one finds nothing after the time `settled` since the first. A user who is back in the table is not forgotten.
--
-- erased: rows that were deleted. finished: users who are done with. has_more: whether another pass should follow at once.
create or replace function tacet.erase_users(users_max int, rows_max int, settled interval)
returns table (erased bigint, finished bigint, has_more boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  picked bigint[];
  users uuid[];
  relation regclass;
  user_column name;
  deleted_rows bigint;
  has_some boolean;
  has_rest boolean := false;
begin
  erased := 0;
  with missed as (
    update tacet.trigger_failures f
    set subject_ids = '{}'
    from (
      select x.ctid as place, x.subject_ids
      from tacet.trigger_failures x
      where x.subject_ids <> '{}' and x.kind = 'erasure'
      order by x.failed_at
      limit users_max
      for update skip locked
    ) x
    where f.ctid = x.place
    returning x.subject_ids
  )
  insert into tacet.erasures (user_id) select s.id from missed m, unnest(m.subject_ids) as s (id);

  picked := array(
    select e.id from tacet.erasures e where e.due_at <= clock_timestamp() order by e.due_at limit users_max
    for update skip locked);

  for relation in
    select distinct e.source
    from tacet.erasures e
    join pg_class c on c.oid = e.source
    where e.id = any (picked) and has_table_privilege(e.source, 'select') and not row_security_active(e.source)
  loop
    execute format(
      'delete from tacet.erasures e using %s s where e.id = any ($1) and e.source = $2 and s.id = e.user_id', relation
    ) using picked, relation;
  end loop;

  users := array(select distinct e.user_id from tacet.erasures e where e.id = any (picked));
  for relation, user_column in select c.relation, c.user_column from tacet.user_columns c where users <> '{}' loop
    execute format(
      'delete from %1$s where ctid = any (array(
         select r.ctid from %1$s r where r.%2$I = any ($1) limit $2 for update skip locked))', relation, user_column
    ) using users, rows_max;
    get diagnostics deleted_rows = row_count;
    erased := erased + deleted_rows;
    execute format('select exists (select from %s r where r.%I = any ($1))', relation, user_column)
      into has_some using users;
    has_rest := has_rest or has_some;
  end loop;

  with done as (
    delete from tacet.erasures e
    where e.id = any (picked) and not has_rest and e.begun_at <= clock_timestamp() - settled
    returning 1
  )
  select count(*) into finished from done;

  update tacet.erasures e
  set
    begun_at = coalesce(e.begun_at, clock_timestamp()), is_clean = not has_rest,
    due_at = clock_timestamp() + case
      when has_rest and erased > 0 then interval '0'
      when has_rest then interval '10 seconds'
      else greatest(interval '10 seconds', clock_timestamp() - e.begun_at)
    end
  where e.id = any (picked);

  has_more := cardinality(picked) = users_max or has_rest and erased > 0;
  return next;
end
$$;

-- Notes users who are gone from auth.users, where a trigger of ours has no place: looks at the next users of whom something
-- is kept for good or of whom pushes were recorded, in the order of their ids. Null at the end, and where the ids of
-- profiles are not those of auth.users, or its rows are hidden.
create or replace function tacet.note_gone_users(after uuid, users_max int)
returns uuid
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  login regclass := to_regclass('auth.users');
  is_login_table boolean := false;
  next_user uuid := after;
  users uuid[] := '{}';
begin
  if login is null or to_regclass('public.profiles') is null or not has_table_privilege(login, 'select')
    or row_security_active(login)
  then
    return null;
  end if;
  execute '
    select exists (
      select from (select p.id from public.profiles p order by p.id limit 100) p join auth.users u on u.id = p.id)'
    into is_login_table;
  if not is_login_table then
    return null;
  end if;
  for i in 1..users_max loop
    next_user := least(
      (select l.user_id from public.push_log l where l.user_id > next_user order by l.user_id limit 1),
      (select p.user_id from tacet.preferences p where p.user_id > next_user order by p.user_id limit 1),
      (select c.user_id from tacet.conversation_preferences c where c.user_id > next_user order by c.user_id limit 1),
      (select f.user_id from tacet.frequency_caps f where f.user_id > next_user order by f.user_id limit 1));
    exit when next_user is null;
    users := users || next_user;
  end loop;
  execute '
    insert into tacet.erasures (user_id, source)
    select g.id, $2
    from unnest($1) as g (id)
    where not exists (select from auth.users u where u.id = g.id)
      and not exists (select from tacet.erasures e where e.user_id = g.id)'
    using users, login;
  return next_user;
end
$$;

revoke all on all functions in schema tacet from public;

do $$
begin
  perform tacet.grant_services();
end
$$;

insert into tacet.migrations (version, name) values (24, '0024_erasure') on conflict do nothing;

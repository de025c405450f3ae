-- What is deleted: rows that are old, and those of deleted users.

-- Tables whose rows are kept for a time and then deleted.
--
-- moment: from when on a row is old. ordered_by: the index's expression that finds the oldest first; null where an index on the
-- moment would have to change with every look or fetch, so that each batch reads the table from its beginning (a tenth of a
-- second for a million rows). condition: what else must hold of a row; $1 is the retention. needed_for: rows are kept as long as this,
-- however short the retention is.
create or replace function tacet.retentions()
returns table (name text, moment text, ordered_by text, condition text, needed_for interval)
language sql immutable
as $$
  values
    -- What is held is work that remains.
    ('push_log', 'enqueued_at', 'enqueued_at', 'decision <> ''held''', interval '0'),
    ('parked', 'parked_at', 'parked_at', 'true', '0'),
    -- Events that are not in the inbox yet are found in these rows.
    ('trigger_failures', 'failed_at', 'failed_at', 'subject_ids = ''{}''', '0'),
    ('surface_views', 'greatest(last_seen, left_at)', null, 'true', '0'),
    ('read_syncs', 'available_at', 'available_at', 'true', '0'),
    -- With a push goes what makes a repeated request known.
    ('pushes', 'created_at', 'created_at', '(send_at is null or send_at < now() - $1)', '0'),
    -- A push may be cancelled as soon as it is asked for, and be sent after 31 days of waiting and 30 of life.
    ('cancellations', 'cancelled_at', 'cancelled_at', 'true', '61 days'),
    ('instances', 'seen_at', 'seen_at', 'true', '0'),
    -- Of users who get pushes the marks are renewed before.
    ('unread_marks', 'built_at', null, 'true', '0'),
    ('campaign_runs', 'started_at', 'started_at', 'true', '0'),
    ('occasions', 'fire_at', 'fire_at', 'true', '0'),
    ('notif_events', 'received_at', 'received_at', 'true', '0'),
    ('notif_contents', 'attempted_at', null, 'true', '0'),
    ('user_sessions', 'began_at', 'began_at', 'true', '0'),
    -- With an activity go its pushes and tokens.
    ('activities', 'ended_at', 'ended_at', 'true', '0'),
    ('activity_updates', 'created_at', 'created_at', 'true', '0'),
    ('targets', 'least(dropped_at, expires_at)', 'dropped_at', 'true', '0'),
    ('host_events', 'ended_at', 'ended_at', 'true', '0'),
    ('model_texts', 'asked_at', 'asked_at', 'true', '0'),
    ('row_texts', 'asked_at', 'asked_at', 'true', '0')
$$;

-- The statement that deletes one batch of a table's rows that are older than $1, and than the table needs, and counts them. Null for
-- a table that is not pruned.
--
-- Rows that another session writes or prunes are skipped, so any number of pruners share the work. A thousand neighbouring rows
-- are some 30 pages of the ledger, which are deleted in a few milliseconds. The number is a literal: of a parameter the planner would
-- believe that it takes a tenth of the table. Without the order the planner would expect old rows wherever it begins to read.
create or replace function tacet.prune_statement(table_name text)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select format(
    'with pruned as (delete from tacet.%1$I where ctid = any (array('
      'select ctid from tacet.%1$I where %2$s < now() - greatest($1, %3$L) and %4$s %5$s limit 1000 for update skip locked)) returning 1) '
      'select count(*) from pruned',
    r.name, r.moment, r.needed_for, r.condition, 'order by ' || r.ordered_by)
  from tacet.retentions() r
  where r.name = prune_statement.table_name
$$;

-- Deletes one batch of a table's rows that are older than the retention, by the database's clock. A row of exactly that age stays.
-- Returns how many: fewer than 1000 mean that nothing, or nothing free, is left.
create or replace function tacet.prune(table_name text, retention interval)
returns bigint
language plpgsql volatile
as $$
declare
  pruned bigint;
begin
  execute tacet.prune_statement(prune.table_name) into pruned using prune.retention;
  return pruned;
end
$$;

-- Queues the deleted rows of a table of users, by their ids. It waits for no row. When the queue is locked as a whole, it
-- writes the ids to tacet.trigger_failures, where the service finds them.
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
      values (sqlstate, sqlerrm, 'erasure', array(select d.id::tacet.subject_id from deleted d));
    exception
      when others then
        raise warning 'tacet: the rows of a deleted user stay: % (%)', sqlerrm, sqlstate;
    end;
    return null;
end
$$;

-- Queues a user for erasure. Hosts whose users are in other tables call it from a trigger or a job.
create or replace function tacet.forget_user(user_id tacet.user_id)
returns void
language sql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into tacet.erasures (user_id) values (forget_user.user_id)
$$;

-- One pass over users to erase: at most users_max users, and rows_max rows of each table. Rows that another session has locked
-- wait for the next pass.
--
-- A push that was under way when its user was deleted may still be recorded. So passes continue, at growing intervals, until
-- one finds nothing after `settled` since the first. A user who is back in the table is not erased. Only tables that have the
-- trigger above are read, and auth.users: a view would run with the rights of this function's owner.
--
-- erased: rows deleted. finished: users done. has_more: whether to call again at once.
create or replace function tacet.erase_users(users_max int, rows_max int, settled interval)
returns table (erased bigint, finished bigint, has_more boolean)
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  picked bigint[];
  users tacet.user_id[];
  relation regclass;
  user_column name;
  deleted_rows bigint;
  has_some boolean;
  has_rest boolean := false;
begin
  erased := 0;
  insert into tacet.erasures (user_id) select m.subject_id::tacet.user_id from tacet.take_missed('^erasure$', users_max) m;

  picked := array(
    select e.id from tacet.erasures e where e.due_at <= (select clock_timestamp()) order by e.due_at limit users_max
    for update skip locked);

  for relation in
    select distinct e.source
    from tacet.erasures e
    where e.id = any (picked) and has_table_privilege(e.source, 'select') and not row_security_active(e.source)
      and (
        e.source = tacet.table_of_users('auth', 'users')
        or exists (
          select from pg_trigger t
          join pg_class c on c.oid = t.tgrelid and c.relkind in ('r', 'p')
          where t.tgrelid = e.source and t.tgfoid = 'tacet.forget_deleted_profiles()'::regprocedure
        ))
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

  delete from tacet.erasures e
  where e.id = any (picked) and not has_rest and e.begun_at <= clock_timestamp() - settled;
  get diagnostics finished = row_count;

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

-- A table of users that functions with their owner's rights may read: a view could run another role's code, and so could a cast
-- of a type that does not come with PostgreSQL. Null without such a table, and where its rows are hidden or may not be read.
create or replace function tacet.table_of_users(schema_name name, table_name name)
returns regclass
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select c.oid::regclass
  from pg_namespace n
  join pg_class c on c.relnamespace = n.oid and c.relname = table_name and c.relkind in ('r', 'p')
  join pg_attribute a on a.attrelid = c.oid and a.attname = 'id' and a.atttypid = 'tacet.user_id'::regtype
  where n.nspname = schema_name and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
    and not row_security_active(c.oid)
$$;

-- Queues users who are gone from auth.users, where no trigger of ours can be. Examines the next users with a row that is kept,
-- in the order of their ids, and returns the last one; null at the end, where the ids of profiles are not those of auth.users,
-- and where its rows are hidden.
create or replace function tacet.note_gone_users(after tacet.user_id, users_max int)
returns tacet.user_id
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  login regclass := tacet.table_of_users('auth', 'users');
  is_login_table boolean := false;
  next_user tacet.user_id := coalesce(after, tacet.lowest_user_id());
  users tacet.user_id[] := '{}';
begin
  -- Logins have a uuid.
  if 'tacet.user_id' <> 'uuid' or login is null or tacet.table_of_users('public', 'profiles') is null then
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
      (select l.user_id from tacet.push_log l where l.user_id > next_user order by l.user_id limit 1),
      (select p.user_id from tacet.preferences p where p.user_id > next_user order by p.user_id limit 1),
      (select c.user_id from tacet.conversation_preferences c where c.user_id > next_user order by c.user_id limit 1),
      (select f.user_id from tacet.frequency_caps f where f.user_id > next_user order by f.user_id limit 1),
      (select t.user_id from tacet.targets t where t.user_id > next_user order by t.user_id limit 1),
      (select w.user_id from tacet.target_wishes w where w.user_id > next_user order by w.user_id limit 1));
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

-- Whether a user has an account: a user who is gone from auth.users has none, even if the host's rows remain. True without
-- that table, and for a role that may not read it.
create or replace function tacet.has_account(user_id tacet.user_id)
returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if 'tacet.user_id' <> 'uuid' or tacet.table_of_users('auth', 'users') is null then
    return true;
  end if;
  return exists (select from auth.users u where u.id = has_account.user_id);
end
$$;

-- Whether the host's users are those of auth.users: any profile has an account. A project may have that table and keep its
-- users elsewhere.
create or replace function tacet.uses_accounts()
returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if 'tacet.user_id' <> 'uuid' or tacet.table_of_users('auth', 'users') is null or tacet.table_of_users('public', 'profiles') is null then
    return false;
  end if;
  return exists (select from auth.users u where exists (select from public.profiles p where p.id = u.id));
end
$$;

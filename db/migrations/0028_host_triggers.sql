-- Triggers on the host's tables, and what versions 20 to 26 changed there.
--
-- Locks: SHARE ROW EXCLUSIVE for an instant on messages, conversation_participants and profiles. An upgrade from version 19
-- also takes ACCESS EXCLUSIVE for an instant on host tables that an early version of Tacet created.

-- The triggers of a first installation, on tables that have the columns; a host with other tables makes its own. They call
-- functions/, which are applied after the migrations: until then each function does nothing.
do $$
declare
  message_columns int;
  participant_columns int;
  arguments text := '';
  name text;
begin
  if exists (select from tacet.migrations m where m.version < 27) then
    return;
  end if;
  foreach name in array array['enqueue_inserted_messages', 'release_concerned', 'forget_deleted_profiles'] loop
    execute format(
      'create or replace function tacet.%I() returns trigger language plpgsql as %L', name, 'begin return null; end');
  end loop;

  select count(*) into message_columns
  from (
    values ('id', 'tacet.message_id'), ('conversation_id', 'tacet.conversation_id'), ('read_by', 'tacet.user_id[]')
  ) as t (name, type)
  join pg_class c on c.oid = to_regclass('public.messages') and c.relkind in ('r', 'p')
  join pg_attribute a on a.attrelid = c.oid and a.attname = t.name and not a.attisdropped
  where a.atttypid = any (
    t.type::regtype || case t.type
      when 'bigint' then '{int,smallint}'::regtype[] when 'bigint[]' then '{int[],smallint[]}'
      when 'text' then '{varchar,bpchar}' when 'text[]' then '{varchar[],bpchar[]}'
      else '{}'
    end);
  select count(*) into participant_columns
  from pg_attribute a
  join pg_class c on c.oid = a.attrelid and c.relkind in ('r', 'p')
  where a.attrelid = to_regclass('public.conversation_participants') and not a.attisdropped
    and a.attname in ('conversation_id', 'user_id', 'last_seen', 'left_at');

  if message_columns = 3 then
    arguments := '''conversation_id''';
    if exists (
      select
      from pg_attribute a
      where a.attrelid = to_regclass('public.messages') and a.attname = 'created_at' and not a.attisdropped
        and a.atttypid = 'timestamptz'::regtype
    ) then
      arguments := '''conversation_id'', ''created_at''';
    end if;
    create or replace trigger tacet_message_read
    after update on public.messages
    referencing old table as previous new table as changed
    for each statement execute function tacet.release_concerned('read');

    create or replace trigger tacet_message_deleted
    after delete on public.messages
    referencing old table as previous
    for each statement execute function tacet.release_concerned('deleted');
  end if;
  if exists (select from pg_class c where c.oid = to_regclass('public.messages') and c.relkind in ('r', 'p')) then
    execute format(
      'create or replace trigger tacet_message_inserted after insert on public.messages referencing new table as inserted '
      'for each statement execute function tacet.enqueue_inserted_messages(%s)', arguments);
  else
    raise notice 'tacet: make the trigger tacet_message_inserted on the table of your messages (db/CONTRACT.md)';
  end if;

  if participant_columns = 4 then
    create or replace trigger tacet_conversation_seen
    after update on public.conversation_participants
    referencing old table as previous new table as changed
    for each statement execute function tacet.release_concerned('seen');

    create or replace trigger tacet_conversation_left
    after delete on public.conversation_participants
    referencing old table as previous
    for each statement execute function tacet.release_concerned('left');
  end if;
  if message_columns < 3 or participant_columns < 4 then
    raise notice 'tacet: the host tables differ from the default; call tacet.release_holds from triggers of your own '
      '(db/CONTRACT.md)';
  end if;

  if exists (select from pg_class c where c.oid = to_regclass('public.profiles') and c.relkind in ('r', 'p')) then
    create or replace trigger tacet_profile_deleted
    after delete on public.profiles
    referencing old table as deleted
    for each statement execute function tacet.forget_deleted_profiles();
  else
    raise notice 'tacet: make the trigger tacet_profile_deleted on the table of your users, or call tacet.forget_user '
      '(db/CONTRACT.md)';
  end if;
end
$$;

-- What versions 20 to 26 changed on the host's tables.
do $$
declare
  version int := (select max(m.version) from tacet.migrations m where m.version < 27);
  created regclass;
  stranger name;
  kept regrole;
  -- Host tables that an early version created are open to everybody. The catalogs show them: their first columns and the
  -- columns that were added to two tables are of one transaction, which is not the one that made tacet.migrations. Tables
  -- that the application had, or that came out of a dump, are left alone, and so are those with row-level security.
  ours xid := (
    select t.xmin
    from pg_attribute t
    join pg_attribute p
      on p.attrelid = to_regclass('public.conversation_participants') and p.attname = 'left_at' and t.xmin = p.xmin
    where t.attrelid = to_regclass('public.push_tokens') and t.attname = 'registered_at'
      and t.xmin <> (
        select a.xmin from pg_attribute a where a.attrelid = 'tacet.migrations'::regclass and a.attname = 'version'));
begin
  if version < 20 then
    for created in
      select c.oid
      from unnest(array['profiles', 'conversations', 'conversation_participants', 'messages', 'push_tokens']) as t (name)
      join pg_class c on c.oid = to_regclass('public.' || t.name)
      where c.relkind = 'r' and not c.relrowsecurity and pg_has_role(c.relowner, 'usage')
        and (select a.xmin from pg_attribute a where a.attrelid = c.oid and a.attnum = 1) = ours
    loop
      execute format('alter table %s enable row level security', created);
      execute format('revoke all on %s from public', created);
      for stranger in select r.rolname from pg_roles r where r.rolname in ('anon', 'authenticated') loop
        execute format('revoke all on %s from %I', created, stranger);
      end loop;
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
  end if;
  if version < 21 and exists (
    select
    from pg_trigger t
    join pg_attribute a on a.attrelid = t.tgrelid and a.attname = 'created_at' and not a.attisdropped
    where t.tgrelid = to_regclass('public.messages') and t.tgname = 'tacet_message_inserted'
      and t.tgfoid = 'tacet.enqueue_inserted_messages()'::regprocedure
      and t.tgargs = 'conversation_id\000'::bytea and a.atttypid = 'timestamptz'::regtype
  ) then
    create or replace trigger tacet_message_inserted
    after insert on public.messages
    referencing new table as inserted
    for each statement execute function tacet.enqueue_inserted_messages('conversation_id', 'created_at');
  end if;
  if version < 24 and exists (
    select
    from pg_trigger t
    where t.tgrelid = to_regclass('public.profiles') and t.tgname = 'tacet_profile_views_deleted'
  ) then
    drop trigger tacet_profile_views_deleted on public.profiles;
  end if;
end
$$;

insert into tacet.migrations (version, name) values (28, '0028_host_triggers') on conflict do nothing;

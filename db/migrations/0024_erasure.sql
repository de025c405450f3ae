-- What is known of a deleted user goes, whatever is locked meanwhile: the trigger on profiles notes the user, and the
-- service deletes the rows. And the host contract can be tried, so that what does not work is known before a message comes.
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

-- Whether row-level security lets the role see rows of a conversation in a table and write none of them. Such a write is no
-- error: it finds nothing. Asked only where a function of the host contract says that it writes there.
create or replace function tacet.hides_writes(contract_function text, written text, conversation_id uuid)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '200ms'
as $$
declare
  relation regclass := to_regclass(written);
  is_seen boolean;
  is_written boolean;
begin
  if relation is null or not row_security_active(relation) or not exists (
    select
    from pg_proc p
    where p.pronamespace = 'tacet'::regnamespace and p.proname = contract_function and not p.prosecdef
      and strpos(p.prosrc, written) > 0)
  then
    return false;
  end if;
  execute format('select exists (select from %s t where t.conversation_id = $1)', relation)
    into is_seen using conversation_id;
  execute format(
    'select exists (select from (select from %s t where t.conversation_id = $1 limit 1 for no key update) w)', relation
  ) into is_written using conversation_id;
  return is_seen and not is_written;
exception
  when lock_not_available then
    return false;
end
$$;

-- Plays a message through the host contract as the role that calls it, and undoes everything: what claims, devices, looks and
-- reads will meet. A row for each function.
--
-- is_inserting: whether a copy of one of the host's messages is inserted, to see the trigger work; otherwise that message
-- itself is looked up. The device token is made up. Nothing is left of it, no notification either, and no lock.
--
-- outcome: done; empty, which works and finds nobody; failed; skipped. message: why; it quotes no value of a row.
create or replace function tacet.rehearse_message(is_inserting boolean)
returns table (step text, outcome text, state text, message text)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '500ms'
as $$
declare
  trials jsonb := '[]';
  source regclass;
  is_hidden boolean := false;
  copied text;
  sample uuid;
  played uuid;
  conversation uuid;
  sender uuid;
  recipient uuid;
  token text := replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
  trial record;
  answer jsonb;
  result text;
  failed_state text;
  failed_message text;
  failed_context text;
begin
  begin
    select t.tgrelid into source
    from pg_trigger t
    join pg_proc p on p.oid = t.tgfoid
    where p.pronamespace = 'tacet'::regnamespace and p.proname = 'enqueue_inserted_messages'
      and t.tgenabled in ('O', 'A') and not t.tgisinternal
    order by t.tgrelid
    limit 1;
    if source is null then
      trials := trials || jsonb_build_object(
        'step', 'trigger', 'outcome', 'failed', 'message', 'no table has an enabled trigger on inserted messages');
    else
      begin
        execute format('select s.id from %s s order by s.id desc limit 1', source) into sample;
        if sample is null then
          is_hidden := row_security_active(source) and not exists (
            select
            from pg_policy y
            cross join unnest(y.polroles) as r (oid)
            where y.polrelid = source and y.polpermissive and y.polcmd in ('r', '*')
              and case when r.oid = 0 then true else pg_has_role(r.oid, 'usage') end);
          result := format(
            case when is_hidden then 'no policy shows this role the rows of %s' else '%s has no message to copy' end, source);
        elsif not is_inserting then
          result := 'no message is inserted';
        else
          played := gen_random_uuid();
          select string_agg(format('%I', a.attname), ', ') into copied
          from pg_attribute a
          where a.attrelid = source and a.attnum > 0 and not a.attisdropped and a.attidentity = '' and a.attgenerated = ''
            and a.attname not in ('id', 'created_at');
          execute format(
            'insert into %1$s (id, %2$s) select $1, %2$s from %1$s where id = $2', source, copied) using played, sample;
          if not exists (select from tacet.inbox i where i.subject_id = played) then
            raise exception 'no inbox row' using errcode = 'TACET';
          end if;
        end if;
        trials := trials || jsonb_build_object(
          'step', 'trigger', 'message', result, 'outcome', case
            when result is null then 'done'
            when is_hidden then 'empty'
            else 'skipped'
          end);
      exception
        when sqlstate 'TACET' then
          played := null;
          trials := trials || jsonb_build_object(
            'step', 'trigger', 'outcome', 'failed',
            'message', format('an insert into %s writes no row of tacet.inbox', source));
        when others then
          played := null;
          trials := trials || jsonb_build_object(
            'step', 'trigger', 'outcome', 'skipped', 'state', sqlstate,
            'message', format('this role could not insert a copy of a message into %s', source));
      end;
    end if;

    -- $1: the message. $2: the conversation. $3: the sender. $4: a recipient. $5: a device token. $6: whether the message is
    -- there. The member missing of an answer says what is wrong, the member empty what is odd.
    for trial in
      select x.step, x.query
      from (
        values
          (1, 'message_context', $q$
            select jsonb_build_object('conversation', c.conversation_id, 'sender', c.sender_id, 'missing',
              case when $6 and c.is_known is null then 'it knows nothing of a message that is there' end)
            from (select 1) o
            left join lateral (
              select x.conversation_id, x.sender_id, x.sender_name || '' as n, x.body || '' as b,
                x.created_at + interval '0' as t, x.read_by || '{}'::uuid[] as r, x.prior_read_by || '{}'::uuid[] as p,
                x.prior_touched_at + interval '0' as pt, true as is_known
              from tacet.message_context($1) x
              limit 1
            ) c on true $q$),
          (2, 'seen_by', $q$
            select jsonb_build_object('recipient', (array_agg(s.user_id))[1], 'empty',
              case when $6 and count(*) = 0 then 'it names nobody but the sender of the message that was tried' end)
            from (
              select x.user_id, x.last_seen + interval '0' as s, x.left_at + interval '0' as l
              from tacet.seen_by($2) x
              limit 1000
            ) s
            where s.user_id is distinct from $3 $q$),
          (3, 'unread_count', 'select to_jsonb(tacet.unread_count($4)::bigint)'),
          (4, 'device_tokens', $q$
            select to_jsonb(count(d.device_token || coalesce(d.environment, '') || coalesce(d.app, '')))
            from tacet.device_tokens($4) d $q$),
          (5, 'recipient_preferences', $q$
            select to_jsonb(count(p.is_opted_out or p.is_muted or p.mentions_only)
              + count(p.quiet_hours_remaining + interval '0') + count(p.quiet_hours_policy || ''))
            from tacet.recipient_preferences($4, 'message', $2, clock_timestamp()) p $q$),
          (6, 'is_mentioned', 'select to_jsonb(tacet.is_mentioned($1, $4)::boolean)'),
          (7, 'profile_name', 'select to_jsonb(tacet.profile_name($4)::text is null)'),
          (8, 'takes_part', $q$
            select jsonb_build_object('missing', case when $6 and tacet.takes_part($2, $4)::boolean is not true
              then 'it does not know a participant whom tacet.seen_by names' end) $q$),
          (9, 'register_device', $q$
            select to_jsonb(true)
            from (select tacet.register_device($4, $5, 'production', null, 'ios', null, null, 1000000)) r $q$),
          (10, 'register_device', $q$
            select jsonb_build_object('missing', case when $6 and not exists (
                select from tacet.device_tokens($4) d where lower(d.device_token) = $5
              ) then 'tacet.device_tokens does not return the token that it has registered' end) $q$),
          (11, 'remove_device', $q$
            select jsonb_build_object('missing', case when $6 and tacet.remove_device($4, $5)::boolean is not true
              then 'it does not remove the token that was registered' end) $q$),
          (12, 'view_conversations', $q$
            select jsonb_build_object('missing', case
                when tacet.hides_writes('view_conversations', 'public.conversation_participants', $2)
                then 'row-level security lets this role write no row of public.conversation_participants'
              end)
            from (
              select count(v.is_participant and not v.is_skipped) as n
              from tacet.view_conversations(array[$2], array[$4], '{true}', '{false}') v
            ) v
            where v.n >= 0 $q$),
          (13, 'mark_read', $q$
            select jsonb_build_object('missing', case when tacet.hides_writes('mark_read', 'public.messages', $2)
              then 'row-level security lets this role write no row of public.messages' end)
            from (select count(*) as n from tacet.mark_read($2, $4, gen_random_uuid())) r
            where r.n >= 0 $q$)
      ) as x (place, step, query)
      order by x.place
    loop
      begin
        execute trial.query into answer
        using coalesce(played, sample), conversation, sender, recipient, token, sample is not null;
        if trial.step = 'message_context' then
          conversation := answer ->> 'conversation';
          sender := answer ->> 'sender';
        elsif trial.step = 'seen_by' and answer ->> 'recipient' is not null then
          recipient := answer ->> 'recipient';
        end if;
        result := case when jsonb_typeof(answer) = 'object' then coalesce(answer ->> 'missing', answer ->> 'empty') end;
        trials := trials || jsonb_build_object(
          'step', trial.step, 'message', result, 'outcome', case
            when result is null then 'done'
            when answer ->> 'empty' is not null then 'empty'
            else 'failed'
          end);
      exception
        when others then
          get stacked diagnostics
            failed_state = returned_sqlstate, failed_message = message_text, failed_context = pg_exception_context;
          trials := trials || jsonb_build_object(
            'step', trial.step, 'state', failed_state,
            -- A user who was made up cannot have a device.
            'outcome', case when failed_state like '23%' and sample is null then 'skipped' else 'failed' end,
            'message', case
              when failed_state like '42%' and failed_context !~ ' at RAISE' then failed_message
              else 'its message may quote a row, and stands in the server''s log'
            end);
      end;
      -- What follows is tried with ids of nobody where none is known.
      if trial.step = 'seen_by' then
        sample := case when recipient is not null then sample end;
        conversation := coalesce(conversation, gen_random_uuid());
        recipient := coalesce(recipient, gen_random_uuid());
      end if;
    end loop;
    raise exception 'undone' using errcode = 'TACET';
  exception
    when sqlstate 'TACET' then
      null;
  end;
  return query
    select t.step, t.outcome, t.state, t.message
    from jsonb_to_recordset(trials) as t (step text, outcome text, state text, message text);
end
$$;

revoke all on all functions in schema tacet from public;

do $$
begin
  perform tacet.grant_services();
end
$$;

insert into tacet.migrations (version, name) values (24, '0024_erasure') on conflict do nothing;

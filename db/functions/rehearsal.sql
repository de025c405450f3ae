-- A message played through the host contract, for tacet doctor.

-- The tables of the host that functions of the host contract read with the caller's rights, by the names in their bodies.
create or replace function tacet.tables_read(function_names text[])
returns table (function_name text, relation regclass)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select distinct p.proname::text, c.oid::regclass
  from pg_proc p
  cross join lateral regexp_matches(
    p.prosrc, '((?:[a-zA-Z_][\w$]*|"(?:[^"]|"")+")\.(?:[a-zA-Z_][\w$]*|"(?:[^"]|"")+"))', 'g') as m (name)
  join pg_class c on c.oid = to_regclass(m.name[1]) and c.relnamespace <> 'tacet'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
  where p.pronamespace = 'tacet'::regnamespace and p.proname = any (function_names) and not p.prosecdef
$$;

-- Plays a message through the host contract as the calling role, and undoes everything. Returns a row for each function that
-- claims, devices, looks and reads will call, one for each table of theirs whose rows row-level security hides, and with is_inserting
-- one that says whether anybody would be reached.
--
-- is_inserting: whether to insert a copy of one of the host's messages, to see the trigger work; otherwise that message is
-- read. The device token is invented. Nothing remains, neither a notification nor a lock.
--
-- outcome: done; empty, which works and finds nobody; failed; skipped. message: why; it quotes no value of a row.
create or replace function tacet.rehearse_message(is_inserting boolean)
returns table (step text, outcome text, state text, message text)
language plpgsql volatile
set lock_timeout = '500ms'
as $$
declare
  trials jsonb := '[]';
  source regclass;
  is_hidden boolean := false;
  copied text;
  sample tacet.message_id;
  known tacet.message_id;
  with_device tacet.user_id;
  played tacet.message_id;
  conversation tacet.conversation_id;
  sender tacet.user_id;
  recipient tacet.user_id;
  token text := replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', '');
  is_wired boolean := true;
  trial record;
  answer jsonb;
  failed_context text;
  recipients bigint;
  reached bigint;
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
      outcome := 'failed';
      message := 'no table has an enabled trigger on inserted messages';
    else
      begin
        execute format('select s.id from %s s order by s.id desc limit 1', source) into sample;
        -- One that the host pushes: others may be deleted softly, or notes that tacet.message_context leaves out.
        begin
          execute format(
            'select s.id from (select x.id from %s x order by x.id desc limit 20) s '
            'where exists (select from tacet.message_context(s.id)) limit 1', source) into known;
          sample := coalesce(known, sample);
        exception
          when others then
            null;
        end;
        if sample is null then
          is_hidden := row_security_active(source) and not exists (
            select from pg_policy y
            cross join unnest(y.polroles) as r (oid)
            where y.polrelid = source and y.polpermissive and y.polcmd in ('r', '*')
              and case when r.oid = 0 then true else pg_has_role(r.oid, 'usage') end);
          message := format(
            case when is_hidden then 'no policy shows this role the rows of %s' else '%s has no message to copy' end, source);
        elsif not is_inserting then
          message := 'no message is inserted';
        else
          played := tacet.unused_id('tacet.message_id');
          select string_agg(format('%I', a.attname), ', ') into copied
          from pg_attribute a
          where a.attrelid = source and a.attnum > 0 and not a.attisdropped and a.attidentity = '' and a.attgenerated = ''
            and a.attname not in ('id', 'created_at');
          execute format(
            'insert into %1$s (id, %2$s) overriding system value select $1, %2$s from %1$s where id = $2', source, copied
          ) using played, sample;
          if not exists (select from tacet.inbox i where i.subject_id = played::tacet.subject_id) then
            raise exception 'no inbox row' using errcode = 'TACET';
          end if;
        end if;
        outcome := case when message is null then 'done' when is_hidden then 'empty' else 'skipped' end;
      exception
        when sqlstate 'TACET' then
          played := null;
          outcome := 'failed';
          message := format('an insert into %s writes no row of tacet.inbox', source);
        when others then
          played := null;
          outcome := 'skipped';
          state := sqlstate;
          message := format('this role could not insert a copy of a message into %s', source);
      end;
    end if;
    trials := trials || jsonb_build_object('step', 'trigger', 'outcome', outcome, 'state', state, 'message', message);

    -- $1: the message. $2: the conversation. $3: the sender. $4: a recipient. $5: a device token. $6: whether the message is
    -- there. In an answer, missing says what is wrong, and empty what is odd.
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
                x.created_at + interval '0' as t, x.read_by || '{}'::tacet.user_id[] as r,
                x.prior_read_by || '{}'::tacet.user_id[] as p, x.prior_touched_at + interval '0' as pt, true as is_known
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
          (4, 'push_targets', $q$
            select to_jsonb(count(t.channel || t.address || coalesce(t.environment, '') || coalesce(t.app, '') || coalesce(t.keys, '')))
            from tacet.push_targets($4) t $q$),
          (5, 'recipient_preferences', $q$
            select to_jsonb(count(p.is_opted_out or p.is_muted or p.mentions_only)
              + count(p.quiet_hours_remaining + interval '0') + count(p.quiet_hours_policy || ''))
            from tacet.recipient_preferences($4, 'message', $2, clock_timestamp()) p $q$),
          (5, 'takes_pushes', 'select to_jsonb(tacet.takes_pushes($4)::boolean)'),
          (5, 'has_blocked', 'select to_jsonb(tacet.has_blocked($4, $3)::boolean)'),
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
            from (select count(*) as n from tacet.mark_read($2, $4, tacet.unused_id('tacet.message_id')::tacet.message_id)) r
            where r.n >= 0 $q$)
      ) as x (place, step, query)
      order by x.place
    loop
      continue when not is_wired and trial.step = 'register_device';
      state := null;
      begin
        execute trial.query into answer
        using coalesce(played, sample), conversation, sender, recipient, token, sample is not null;
        if trial.step = 'message_context' then
          conversation := answer ->> 'conversation';
          sender := answer ->> 'sender';
        elsif trial.step = 'seen_by' and answer ->> 'recipient' is not null then
          recipient := answer ->> 'recipient';
        end if;
        message := case when jsonb_typeof(answer) = 'object' then coalesce(answer ->> 'missing', answer ->> 'empty') end;
        outcome := case when message is null then 'done' when answer ->> 'empty' is not null then 'empty' else 'failed' end;
      exception
        when others then
          get stacked diagnostics state = returned_sqlstate, message = message_text, failed_context = pg_exception_context;
          -- tacet.not_wired raises the first. An invented user cannot have a device.
          outcome := case when state = 'TC002' or state like '23%' and sample is null then 'skipped' else 'failed' end;
          message := case
            when state = 'TC002' then 'it is wired to no table'
            when state like '42%' and failed_context !~ ' at RAISE' then message
            else 'its message may quote a row, and stands in the server''s log'
          end;
      end;
      trials := trials || jsonb_build_object('step', trial.step, 'outcome', outcome, 'state', state, 'message', message);
      is_wired := is_wired and state is distinct from 'TC002';
      -- A recipient with a device can have another one. One who is deleted softly cannot.
      if trial.step = 'seen_by' and recipient is not null then
        begin
          select s.user_id into with_device
          from (select x.user_id from tacet.seen_by(conversation) x where x.user_id is distinct from sender limit 1000) s
          where exists (select from tacet.push_targets(s.user_id))
          limit 1;
          recipient := coalesce(with_device, recipient);
        exception
          when others then
            null;
        end;
      end if;
      -- Where an id is unknown, the rest is tried with a random one.
      if trial.step = 'seen_by' then
        sample := case when recipient is not null then sample end;
        conversation := coalesce(conversation, tacet.unused_id('tacet.conversation_id')::tacet.conversation_id);
        recipient := coalesce(recipient, tacet.unused_id('tacet.user_id')::tacet.user_id);
      end if;
    end loop;
    for trial in
      select t.function_name as step, format('no policy shows this role the rows of %s', t.relation) as message
      from tacet.tables_read(
        '{message_context,seen_by,has_blocked,takes_part,device_tokens,push_targets,takes_pushes,unread_count,profile_name}') t
      where row_security_active(t.relation) and not exists (
        select from pg_policy y
        where y.polrelid = t.relation and y.polpermissive and y.polcmd in ('r', '*')
          and exists (select from unnest(y.polroles) as o (oid) where o.oid = 0 or pg_has_role(o.oid, 'usage')))
      order by 1, 2
    loop
      trials := trials || jsonb_build_object('step', trial.step, 'outcome', 'empty', 'message', trial.message);
    end loop;

    -- Of the newest messages that are pushed: how many they are for, and how many of those a push reaches.
    if is_inserting and known is not null then
      begin
        execute format(
          $q$
            select count(*), count(*) filter (where r.is_reached)
            from (select x.id from %s x order by x.id desc limit 20) s
            cross join lateral (select x.conversation_id, x.sender_id from tacet.message_context(s.id) x limit 1) c
            cross join lateral (
              select exists (select from tacet.push_targets(v.user_id)) as is_reached
              from (
                select b.user_id from tacet.seen_by(c.conversation_id) b where b.user_id is distinct from c.sender_id limit 100
              ) v
              where not tacet.has_blocked(v.user_id, c.sender_id)
            ) r $q$, source)
        into recipients, reached;
        trials := trials || (
          select jsonb_build_object(
            'step', 'reach', 'outcome', case when reached > 0 then 'done' else 'empty' end, 'message', case
              when reached > 0 then null
              when recipients = 0 then format('none of the newest messages of %s is for anybody, by %s', source, t.names)
              else format('none of the recipients of the newest messages of %s has a device, by %s', source, t.names)
            end)
          from (
            select coalesce(string_agg(distinct t.relation::text, ', '), 'no table') as names
            from tacet.tables_read(case
              when recipients = 0 then '{seen_by,has_blocked}'::text[]
              else '{device_tokens,push_targets,takes_pushes}'
            end) t
          ) t);
      exception
        -- A step above says what fails.
        when others then
          null;
      end;
    end if;
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

-- Whether row-level security lets the role see rows of a conversation in a table and write none of them; such a write raises
-- no error and finds nothing. Asked only where a function of the host contract names the table.
create or replace function tacet.hides_writes(contract_function text, written text, conversation_id tacet.conversation_id)
returns boolean
language plpgsql volatile
set lock_timeout = '200ms'
as $$
declare
  relation regclass := to_regclass(written);
  is_hidden boolean;
begin
  if relation is null or not row_security_active(relation) or not exists (
    select from pg_proc p
    where p.pronamespace = 'tacet'::regnamespace and p.proname = contract_function and not p.prosecdef
      and strpos(p.prosrc, written) > 0)
  then
    return false;
  end if;
  execute format(
    'select exists (select from %1$s t where t.conversation_id = $1) and not exists ('
    'select from (select from %1$s t where t.conversation_id = $1 limit 1 for no key update) w)', relation)
  into is_hidden using conversation_id;
  return is_hidden;
exception
  when lock_not_available then
    return false;
end
$$;

-- How messages get into the inbox: the trigger on inserted ones, and webhooks.

-- Writes an inbox row for each inserted message. The table needs a column id; with the argument 'conversation_id' that column
-- too, and with 'conversation_id', 'created_at' both.
--
-- A message more than five minutes old becomes available with its own date. So it comes after new ones, and imported messages
-- are where one statement of the service finds and deletes them. A date up to five minutes old is a client's clock. A date
-- that is null, infinite or in the future is ignored.
--
-- Under `set local tacet.skip = 'on'` nothing is enqueued, for imports and copies.
--
-- The host pays for it, so it does as little as possible: one subtransaction, one statement that enqueues and one that asks
-- whether to notify. An error there undoes the inbox row, so it is then written alone; if that fails too, the service finds
-- the message in tacet.trigger_failures. lock_timeout bounds every wait, and no lock is waited for twice.
create or replace function tacet.enqueue_inserted_messages()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '400ms'
as $$
declare
  -- A variable, because an expression whose value may change costs the insert a node of its plan.
  moment constant timestamptz := clock_timestamp();
  is_notified boolean;
  is_posted boolean;
  failed_state text;
  failed_message text;
begin
  if current_setting('tacet.skip', true) = 'on' then
    return null;
  end if;
  begin
    -- A statement is planned when it first runs, so the other branches may name columns that the table lacks.
    if tg_nargs > 1 then
      insert into tacet.inbox (subject_id, kind, conversation_id, available_at)
      select
        inserted.id, 'message', inserted.conversation_id,
        case
          when inserted.created_at > '-infinity' and inserted.created_at < moment - interval '5 minutes'
            then inserted.created_at
          else moment
        end
      from inserted;
    elsif tg_nargs > 0 then
      insert into tacet.inbox (subject_id, kind, conversation_id)
      select inserted.id, 'message', inserted.conversation_id from inserted;
    else
      insert into tacet.inbox (subject_id, kind) select inserted.id, 'message' from inserted;
    end if;
    if found then
      select
        s.notify_enabled and s.listening_until > clock_timestamp() and pg_try_advisory_xact_lock_shared(1952539493, 1),
        s.webhook_url is not null
      into is_notified, is_posted
      from tacet.settings s;
    end if;
    if is_posted then
      perform tacet.wake(i.id::tacet.subject_id) from (select inserted.id from inserted limit 1) i;
    elsif is_notified then
      perform pg_notify('tacet', '');
    end if;
  exception
    when query_canceled or others then
      failed_state := sqlstate;
      failed_message := sqlerrm;
      begin
        if failed_state = '55P03' then
          perform tacet.count_trigger_failure(
            failed_state, failed_message, array(select inserted.id::text from inserted));
        else
          insert into tacet.inbox (subject_id, kind) select inserted.id, 'message' from inserted on conflict do nothing;
          -- An existing row is not an error: a message was deleted and inserted again.
          if failed_state <> '23505' then
            perform tacet.count_trigger_failure(failed_state, failed_message);
          end if;
        end if;
      exception
        when others then
          perform tacet.count_trigger_failure(sqlstate, sqlerrm, array(select inserted.id::text from inserted));
      end;
  end;
  return null;
end
$$;

-- Makes sure that a message which a webhook has named is in the inbox, unless the ledger has it. Returns whether there is such a
-- message.
--
-- It is as old as its own `created_at`: nothing better is known, and a webhook about last year's message must not push it.
create or replace function tacet.enqueue_message(subject_id tacet.subject_id)
returns boolean
language plpgsql volatile
as $$
begin
  -- Before all else, so that a database that takes no writes says so.
  insert into tacet.inbox (subject_id, kind, enqueued_at)
  select
    enqueue_message.subject_id, 'message',
    case when isfinite(m.created_at) then least(clock_timestamp(), m.created_at) else clock_timestamp() end
  from tacet.message_context(tacet.message_of(enqueue_message.subject_id)) m
  on conflict do nothing;
  if not found then
    return exists (select from tacet.message_context(tacet.message_of(enqueue_message.subject_id)));
  end if;
  -- Its record may have been committed since the caller looked, or while the insert waited for it. The claim of new messages does not
  -- ask the ledger.
  delete from tacet.inbox i
  where i.subject_id = enqueue_message.subject_id and i.kind = 'message'
    and exists (
      select from tacet.push_log l where l.subject_id = enqueue_message.subject_id and l.push_type = 'message');
  if not found then
    -- The message may be another process's.
    perform tacet.notify_service('');
  end if;
  return true;
end
$$;

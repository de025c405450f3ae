-- Nobody listens, nobody is notified; and a trigger that costs the host as little as can be.
--
-- A NOTIFY makes the host's commits wait for each other, whether anybody hears it or not. So the service says how long it
-- will be listening, again and again, and what is inserted after that time notifies nobody. The poll of the next service
-- finds it.
--
-- Locks: ADD COLUMN takes ACCESS EXCLUSIVE on tacet.settings for an instant and rewrites nothing.

alter table tacet.settings add column if not exists listening_until timestamptz;

comment on column tacet.settings.listening_until is
  'until when a service has said that it listens; kept by the service, null when none ever did';

-- The row is replaced every few seconds: leave room beside it, so that no index has to follow.
alter table tacet.settings set (fillfactor = 50);

-- Wakes the service, unless none listens, or it says by its lock that it is awake and polling.
--
-- NOTIFY takes a lock for the whole database from before the commit's flush until after it, so a NOTIFY in every insert
-- turns concurrent commits into a queue. A busy service therefore holds the advisory lock (1952539493, 1) exclusively,
-- and the try below fails without waiting.
--
-- first_subject_id: what a webhook names; null posts none, and only notifies.
create or replace function tacet.wake(first_subject_id uuid)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  configuration tacet.settings;
  body jsonb;
begin
  select s.* into configuration from tacet.settings s;
  if configuration.notify_enabled and configuration.listening_until > clock_timestamp()
    and pg_try_advisory_xact_lock_shared(1952539493, 1)
  then
    perform pg_notify('tacet', '');
  end if;
  if first_subject_id is not null
    and configuration.webhook_url is not null and configuration.webhook_secret is not null
    and to_regproc('net.http_post') is not null
  then
    -- Apart from the notification, which an error here would take back.
    begin
      body := jsonb_build_object('message_id', first_subject_id);
      execute 'select net.http_post(url := $1, body := $2, headers := $3)'
        using configuration.webhook_url, body, tacet.webhook_headers(body::text, configuration.webhook_secret);
    exception
      when others then
        perform tacet.count_trigger_failure(sqlstate, sqlerrm);
    end;
  end if;
end
$$;

-- The trigger on messages. Its table needs a column id; called with the argument 'conversation_id', also that one.
--
-- The host pays for all of it, so it is as little as can be: one subtransaction, one statement that enqueues and asks
-- whether anybody is to be woken. What goes wrong there takes the inbox row with it, so the row is then written again
-- alone, and only if that fails as well is the message left for the service to find in tacet.trigger_failures.
--
-- query_canceled is caught as well: a host's statement_timeout that strikes while we wait for a lock would otherwise
-- fail the host's insert for our sake. Every wait here is bounded by lock_timeout.
create or replace function tacet.enqueue_inserted_messages()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
declare
  is_wanted boolean;
  first_subject_id uuid;
  failed_state text;
  failed_message text;
begin
  begin
    -- A statement is planned when it is first run: the branch not taken may name a column that is not there.
    if tg_nargs > 0 then
      with enqueued as (
        insert into tacet.inbox (subject_id, kind, conversation_id)
        select inserted.id, 'message', inserted.conversation_id from inserted
      )
      select s.listening_until > clock_timestamp() or s.webhook_url is not null into is_wanted from tacet.settings s;
    else
      with enqueued as (
        insert into tacet.inbox (subject_id, kind) select inserted.id, 'message' from inserted
      )
      select s.listening_until > clock_timestamp() or s.webhook_url is not null into is_wanted from tacet.settings s;
    end if;
    if is_wanted then
      select inserted.id into first_subject_id from inserted limit 1;
      if found then
        perform tacet.wake(first_subject_id);
      end if;
    end if;
  exception
    when query_canceled or others then
      failed_state := sqlstate;
      failed_message := sqlerrm;
      begin
        insert into tacet.inbox (subject_id, kind) select inserted.id, 'message' from inserted on conflict do nothing;
        -- A row that was there already is no error: a message was deleted and inserted again.
        if failed_state <> '23505' then
          perform tacet.count_trigger_failure(failed_state, failed_message);
        end if;
      exception
        when query_canceled or others then
          perform tacet.count_trigger_failure(sqlstate, sqlerrm, array(select inserted.id::text from inserted));
      end;
  end;
  return null;
end
$$;

revoke all on all functions in schema tacet from public;

insert into tacet.migrations (version, name) values (7, '0007_listening') on conflict do nothing;

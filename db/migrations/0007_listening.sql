-- Nobody listens, nobody is notified.
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

revoke all on function tacet.wake(uuid) from public;

insert into tacet.migrations (version, name) values (7, '0007_listening') on conflict do nothing;

-- The trigger on messages: an inbox row in the message's own transaction, and a wake-up.
--
-- It can never fail the host's insert: every error is caught and counted in tacet.trigger_failures, and no lock is
-- waited for longer than 100 ms. It fires once per statement, whatever the number of rows.
--
-- Locks: CREATE TRIGGER takes SHARE ROW EXCLUSIVE on messages for an instant.

-- HMAC-SHA-256 (RFC 2104) over the built-in sha256, because pgcrypto is not everywhere.
create or replace function tacet.hmac_sha256(message bytea, key bytea)
returns bytea
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  block bytea := case when length(key) > 64 then sha256(key) else key end;
  inner_pad bytea;
  outer_pad bytea;
begin
  block := block || decode(repeat('00', 64 - length(block)), 'hex');
  inner_pad := block;
  outer_pad := block;
  for i in 0..63 loop
    inner_pad := set_byte(inner_pad, i, get_byte(block, i) # 54);
    outer_pad := set_byte(outer_pad, i, get_byte(block, i) # 92);
  end loop;
  return sha256(outer_pad || sha256(inner_pad || message));
end
$$;

-- The headers of a webhook signed as Standard Webhooks asks.
create or replace function tacet.webhook_headers(body text, secret text)
returns jsonb
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  webhook_id text := 'msg_' || replace(gen_random_uuid()::text, '-', '');
  seconds text := floor(extract(epoch from clock_timestamp()))::bigint::text;
  key bytea := case
    when secret like 'whsec\_%' then decode(substr(secret, 7), 'base64')
    else convert_to(secret, 'UTF8')
  end;
  signed bytea := convert_to(webhook_id || '.' || seconds || '.' || body, 'UTF8');
begin
  return jsonb_build_object(
    'content-type', 'application/json',
    'webhook-id', webhook_id,
    'webhook-timestamp', seconds,
    'webhook-signature', 'v1,' || encode(tacet.hmac_sha256(signed, key), 'base64'));
end
$$;

-- Wakes the service, unless it says by its lock that it is awake and polling.
--
-- NOTIFY takes a lock for the whole database from before the commit's flush until after it, so a NOTIFY in every insert
-- turns concurrent commits into a queue. A busy service therefore holds the advisory lock (1952539493, 1) exclusively,
-- and the try below fails without waiting.
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
  if configuration.notify_enabled and pg_try_advisory_xact_lock_shared(1952539493, 1) then
    perform pg_notify('tacet', '');
  end if;
  if configuration.webhook_url is not null and configuration.webhook_secret is not null
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

-- Counts an error that must not reach the host; when even that is impossible, a warning is all that can be done.
create or replace function tacet.count_trigger_failure(failed_state text, failed_message text)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into tacet.trigger_failures (sqlstate, message) values (failed_state, failed_message);
exception
  when others then
    raise warning 'tacet: % (%)', failed_message, failed_state;
end
$$;

-- Runs with the rights of its owner: the host's roles need none on schema tacet.
create or replace function tacet.enqueue_inserted_messages()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
declare
  first_subject_id uuid;
begin
  begin
    insert into tacet.inbox (subject_id, kind)
    select inserted.id, 'message' from inserted
    on conflict do nothing;
  exception
    when others then
      perform tacet.count_trigger_failure(sqlstate, sqlerrm);
  end;
  -- Apart from the insert: a wake-up that fails must not take the inbox row with it. The service's poll finds the row.
  begin
    select inserted.id into first_subject_id from inserted limit 1;
    if found then
      perform tacet.wake(first_subject_id);
    end if;
  exception
    when others then
      perform tacet.count_trigger_failure(sqlstate, sqlerrm);
  end;
  return null;
end
$$;

create or replace trigger tacet_message_inserted
after insert on public.messages
referencing new table as inserted
for each statement execute function tacet.enqueue_inserted_messages();

-- A deleted user's ledger goes with the user.
create or replace function tacet.forget_deleted_profiles()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
begin
  delete from public.push_log l using deleted where l.user_id = deleted.id;
  delete from tacet.deliveries d using deleted where d.user_id = deleted.id;
  return null;
exception
  when others then
    perform tacet.count_trigger_failure(sqlstate, sqlerrm);
    return null;
end
$$;

create or replace trigger tacet_profile_deleted
after delete on public.profiles
referencing old table as deleted
for each statement execute function tacet.forget_deleted_profiles();

revoke all on all functions in schema tacet from public;

insert into tacet.migrations (version, name) values (4, '0004_message_trigger') on conflict do nothing;

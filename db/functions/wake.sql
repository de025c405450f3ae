-- Waking the service: NOTIFY, and a signed webhook through pg_net.

-- Notifies the service, unless no service listens, or its lock says that it is awake and polling.
--
-- NOTIFY takes a database-wide lock from before the commit's flush until after it, so a NOTIFY in every insert makes
-- concurrent commits queue. A busy service therefore holds the advisory lock (1952539493, 1) exclusively, and the try below
-- fails without waiting.
create or replace function tacet.notify_service(payload text)
returns void
language plpgsql volatile
as $$
begin
  if exists (
    select from tacet.settings s where s.notify_enabled and s.listening_until > clock_timestamp()
  ) and pg_try_advisory_xact_lock_shared(1952539493, 1) then
    perform pg_notify('tacet', payload);
  end if;
end
$$;

-- Wakes the service: notifies it, and posts a webhook where the settings name a URL.
--
-- first_subject_id: named by the webhook; null only notifies. The secret is read for a post alone, which only triggers ask
-- for, with their owner's rights. Only functions of the extension pg_net get it: any other net.http_post may belong to a role
-- that can create functions there.
create or replace function tacet.wake(first_subject_id tacet.subject_id)
returns void
language plpgsql volatile
as $$
declare
  url text;
  secret text;
  body jsonb;
begin
  perform tacet.notify_service('');
  if first_subject_id is null then
    return;
  end if;
  select s.webhook_url, s.webhook_secret into url, secret from tacet.settings s;
  if url is not null and secret is not null and tacet.has_http_post() then
    -- In its own block, because an error would undo the notification.
    begin
      body := jsonb_build_object('message_id', first_subject_id);
      execute 'select net.http_post(url := $1, body := $2, headers := $3)'
        using url, body, tacet.webhook_headers(body::text, secret);
    exception
      when others then
        perform tacet.count_trigger_failure(sqlstate, sqlerrm);
    end;
  end if;
end
$$;

-- Wakes the service for work that becomes due at a moment: at once when it has come, else with a notification that says how long to
-- wait. A service that is not told finds it by its polls, a second late at most.
create or replace function tacet.wake_at(moment timestamptz)
returns void
language plpgsql volatile
as $$
declare
  wait bigint := extract(epoch from moment - clock_timestamp()) * 1000000;
begin
  if wait <= 0 then
    perform tacet.wake(null);
  else
    perform tacet.notify_service('in ' || wait);
  end if;
end
$$;

-- Whether net.http_post exists and every function of that name is a member of the extension pg_net.
create or replace function tacet.has_http_post()
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(bool_and(exists (
    select from pg_depend d
    join pg_extension e on e.oid = d.refobjid
    where d.classid = 'pg_proc'::regclass and d.objid = p.oid
      and d.refclassid = 'pg_extension'::regclass and d.deptype = 'e' and e.extname = 'pg_net'
  )), false)
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  where n.nspname = 'net' and p.proname = 'http_post'
$$;

-- The headers of a webhook signed as in Standard Webhooks.
create or replace function tacet.webhook_headers(body text, secret text)
returns jsonb
language plpgsql volatile
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

-- HMAC-SHA-256 (RFC 2104) over the built-in sha256, because pgcrypto may be missing.
create or replace function tacet.hmac_sha256(message bytea, key bytea)
returns bytea
language plpgsql immutable strict parallel safe
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

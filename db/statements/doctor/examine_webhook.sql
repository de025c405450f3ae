-- Returns what the triggers do besides the inbox row, and whether they can.

select
  s.notify_enabled, s.webhook_url is not null as has_url, s.has_webhook_secret as has_secret,
  tacet.has_http_post() as has_function,
  coalesce((
    select has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'net' and c.relname = 'http_request_queue'
  ), false) as reads_queue,
  -- A trigger of the host beside ours, such as a database webhook of Supabase.
  (
    select min(t.tgname)
    from pg_trigger t
    join pg_proc p on p.oid = t.tgfoid
    where not t.tgisinternal and t.tgenabled <> 'D' and p.pronamespace <> 'tacet'::regnamespace
      and p.prosrc ~ 'http_(request|post)'
      and t.tgrelid in (
        select o.tgrelid from pg_trigger o where o.tgfoid = to_regproc('tacet.enqueue_inserted_messages'))
  )::text as host_trigger
from tacet.settings s;

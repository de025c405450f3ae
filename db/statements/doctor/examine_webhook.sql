-- Returns what the triggers do besides the inbox row, and whether they can.

select
  s.notify_enabled, s.webhook_url is not null as has_url, s.has_webhook_secret as has_secret,
  tacet.has_http_post() as has_function,
  coalesce((
    select has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'net' and c.relname = 'http_request_queue'
  ), false) as reads_queue
from tacet.settings s;

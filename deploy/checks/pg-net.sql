-- Stands in for the extension pg_net, of which Debian has no package: its queue, and a worker (supabase.py) that posts after
-- the commit, as the extension does. Only net.http_post.

create schema net;
create table net.http_request_queue (
  id bigint generated always as identity, method text not null, url text not null, headers jsonb not null, body bytea,
  timeout_milliseconds int not null
);
create function net.http_post(
  url text, body jsonb default '{}', params jsonb default '{}', headers jsonb default '{"Content-Type": "application/json"}',
  timeout_milliseconds int default 5000
)
returns bigint language sql volatile security definer set search_path = net, pg_catalog as $$
  insert into net.http_request_queue (method, url, headers, body, timeout_milliseconds)
  values ('POST', http_post.url, http_post.headers, convert_to(http_post.body::text, 'UTF8'), http_post.timeout_milliseconds)
  returning id
$$;

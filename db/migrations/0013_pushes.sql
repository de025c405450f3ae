-- Pushes that another server asks for: what they say, to whom, and by which key the request may come again.
--
-- Locks: new objects only. Services of an older version take what is queued here for an event that is gone: stop them before.

-- kind: as the ledger and the payload name it. data: the app's own, as it will be sent: jsonb would write numbers in another form, of any length. idempotency_key: of the request, for as long as the
-- row is kept.
create table if not exists tacet.pushes (
  created_at timestamptz not null default clock_timestamp(),
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null,
  kind text not null,
  title text not null,
  body text not null,
  collapse_id text,
  idempotency_key text,
  data json
);

create unique index if not exists pushes_idempotency_key_idx on tacet.pushes (idempotency_key)
  where idempotency_key is not null;
create index if not exists pushes_created_idx on tacet.pushes (created_at);

insert into tacet.migrations (version, name) values (13, '0013_pushes') on conflict do nothing;

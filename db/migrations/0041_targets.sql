-- Targets that Tacet keeps itself: subscriptions of browsers and registrations of Android apps.
--
-- Locks: none but on the new table. An older service works beside it and pushes to device tokens only.

set client_min_messages = warning;

-- channel: what delivers to it, such as web_push or fcm. address: an endpoint or a registration token. keys: what the channel needs
-- beside it, a JSON object. fetch_digest: SHA-256 of the token by which a service worker asks for the newest push, in hexadecimal.
-- expires_at: when the browser says that it ends; null for never. drop_reason: why no push goes there any more.
create table if not exists tacet.targets (
  registered_at timestamptz not null default clock_timestamp(),
  dropped_at timestamptz,
  expires_at timestamptz,
  channel text not null check (channel ~ '^[a-z0-9_]{1,32}$'),
  address text not null check (octet_length(address) between 1 and 1024),
  user_id tacet.user_id not null,
  app text,
  keys text check (octet_length(keys) <= 1024),
  locale text,
  time_zone text,
  fetch_digest text,
  drop_reason text,
  primary key (address, channel)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

create index if not exists targets_user_idx on tacet.targets (user_id, registered_at desc);
create index if not exists targets_fetch_idx on tacet.targets (fetch_digest) where fetch_digest is not null;

insert into tacet.migrations (version, name) values (41, '0041_targets') on conflict do nothing;

reset client_min_messages;

-- What registrations say of content and language: the user's choice, the device's public key and its locale.
--
-- Locks: none but on the new table, and of tacet.preferences for a moment. An older service works beside it and sends all words.

set client_min_messages = warning;

-- Of device tokens, which are the host's. Targets that Tacet keeps have the same members in tacet.targets.keys.
-- wishes: a JSON object with content, sealing_key and locale. A row counts for its user alone.
create table if not exists tacet.target_wishes (
  channel text not null check (channel ~ '^[a-z0-9_]{1,32}$'),
  address text not null check (octet_length(address) between 1 and 1024),
  user_id tacet.user_id not null,
  wishes text not null check (octet_length(wishes) <= 1024),
  primary key (address, channel)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

create index if not exists target_wishes_user_idx on tacet.target_wishes (user_id);

-- content: the user's choice for all devices; null for none.
alter table tacet.preferences add column if not exists content text;

create index if not exists preferences_content_idx on tacet.preferences (user_id) where content is not null;

insert into tacet.migrations (version, name) values (44, '0044_target_wishes') on conflict do nothing;

reset client_min_messages;

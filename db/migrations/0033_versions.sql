-- Which service may run beside a migration, and the text that was applied.
--
-- Locks: ACCESS EXCLUSIVE for an instant on tacet.migrations. A running older service is not affected.

set client_min_messages = warning;

alter table tacet.migrations
  add column if not exists oldest_service int,
  add column if not exists checksum text;

comment on column tacet.migrations.oldest_service is
  'the newest migration that a service beside this one must know; null for any service';
comment on column tacet.migrations.checksum is
  'md5 of the file that tacet migrate has applied; null for files applied by psql';

insert into tacet.migrations (version, name, oldest_service) values (33, '0033_versions', 32) on conflict do nothing;

reset client_min_messages;

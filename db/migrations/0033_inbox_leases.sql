-- A claim of the inbox changes no indexed column: the end of its lease moves from available_at to leased_until.
--
-- Locks: ACCESS EXCLUSIVE on tacet.inbox while an index is built, which takes a second for a million waiting events. Where
-- inbox_available_idx exists already, only for an instant. Nothing is rewritten. A running older service is not affected.

-- What exists is skipped without a notice.
set client_min_messages = warning;

alter table tacet.inbox
  add column if not exists leased_until timestamptz,
  alter column is_claimed drop not null;

create index if not exists inbox_available_idx on tacet.inbox (available_at);
drop index if exists tacet.inbox_fresh_idx;
drop index if exists tacet.inbox_claimed_idx;

comment on column tacet.inbox.available_at is
  'when the event may be claimed; a claim leaves it as it is, except for one by a service before version 33';
comment on column tacet.inbox.is_claimed is
  'false: free. Null: leased until leased_until. True: leased until available_at, by a service before version 33, '
  'which takes a null for neither. So "not is_claimed" is free, "is_claimed is not false" is leased, and a lease is over '
  'when coalesce(leased_until, available_at) <= now()';
comment on column tacet.inbox.leased_until is
  'the end of the lease of a row whose is_claimed is null; null in all others';

insert into tacet.migrations (version, name) values (33, '0033_inbox_leases') on conflict do nothing;

reset client_min_messages;

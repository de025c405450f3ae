-- Bursts of messages, whose notifications are folded into one.
--
-- Locks: none but on the new table. An older service works beside it and folds nothing.

set client_min_messages = warning;

-- The latest burst of messages to a user in a conversation; see tacet.fold_messages. No index but the key's, so that updates stay
-- on their page.
create table if not exists tacet.bursts (
  sounded_at timestamptz not null,
  latest_at timestamptz not null,
  update_at timestamptz,
  latest_attempts int not null,
  user_id tacet.user_id not null,
  surface_id tacet.conversation_id not null,
  first_subject tacet.subject_id not null,
  latest_subject tacet.subject_id not null,
  is_mention boolean not null default false,
  members int[] not null,
  primary key (user_id, surface_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

insert into tacet.migrations (version, name) values (42, '0042_bursts') on conflict do nothing;

reset client_min_messages;

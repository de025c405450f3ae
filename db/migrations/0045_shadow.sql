-- What another sender has pushed, for `tacet compare`.
--
-- Locks: none but on the new table. An older service works beside it and leaves its rows to newer ones.

set client_min_messages = warning;

-- One row for each push of the other sender, however many devices it went to. kind: as the ledger's push_type. sent_at: the earliest
-- that is known. outcome: its word for a push that failed; null for one that was sent.
create table if not exists tacet.compared_pushes (
  sent_at timestamptz not null,
  subject_id tacet.subject_id not null,
  user_id tacet.user_id not null,
  kind text not null default 'message',
  outcome text,
  primary key (subject_id, user_id, kind)
);

create index if not exists compared_pushes_user_idx on tacet.compared_pushes (user_id);
create index if not exists compared_pushes_sent_idx on tacet.compared_pushes (sent_at);

insert into tacet.migrations (version, name) values (45, '0045_shadow') on conflict do nothing;

reset client_min_messages;

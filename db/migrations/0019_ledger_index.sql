-- One index of the ledger less to write into with every push: nothing of ours reads it any more. A user's rows are found by
-- push_log_user_enqueued_idx, and those of campaigns, by the time at which they were sent, by push_log_campaign_idx.
--
-- Locks: DROP INDEX takes ACCESS EXCLUSIVE on push_log for an instant. A running older service is not affected. A host whose
-- own queries go by user_id and sent_at makes an index for them, under a name of its own.

drop index if exists public.push_log_user_idx;

insert into tacet.migrations (version, name) values (19, '0019_ledger_index') on conflict do nothing;

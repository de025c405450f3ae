-- Old rows, and users who are deleted.

-- name: pruned_tables
-- Returns the tables whose old rows are deleted.

select name from tacet.retentions();

-- name: prune(table_name text, retention_us bigint)
-- Deletes one batch of a table's old rows, and returns how many.
--
-- table_name: one of tacet.retentions().

select tacet.prune(:table_name, :retention_us::bigint * interval '1 microsecond');

-- name: queue_gone_users(after_id tacet.user_id, users_max bigint)
-- Queues users for erasure who are gone from `auth.users`.
--
-- after_id: the last id looked at before; null for the first.
--
-- Returns the last id; null at the end.

select tacet.note_gone_users(:after_id, :users_max::int);

-- name: erase_users(users_max bigint, rows_max bigint, settled_us bigint)
-- Deletes rows of users who are to be forgotten; see tacet.erase_users.
--
-- Returns rows deleted, users finished, and whether to come again at once.

select r.erased as rows, r.finished, r.has_more
from tacet.erase_users(:users_max::int, :rows_max::int, :settled_us * interval '1 microsecond') r;

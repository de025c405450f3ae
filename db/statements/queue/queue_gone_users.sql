-- Queues users for erasure who are gone from `auth.users`.
--
--   :after_id   tacet.user_id  the last id looked at before; null for the first
--   :users_max  bigint         users at most
--
-- Returns the last id; null at the end.

select tacet.note_gone_users(:after_id, :users_max::int);

-- Marks a batch of messages as read, and queues what tells the user's other devices.
--
--   :conversation_id  tacet.conversation_id  the conversation
--   :user_id          tacet.user_id          the user
--   :message_id       tacet.message_id       the last message; null for all
--   :device_token     text                   the device that has read; null when unknown
--   :is_synced        boolean                whether other devices are told
--
-- Returns one row: whether the user takes part, whether the message is known, messages marked, unread messages, and
-- microseconds until others are told. It waits for the disk, whatever the session does otherwise.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select r.takes_part, r.knows_message, r.read_count, r.badge, r.sync_wait
from durable
cross join lateral tacet.read_conversation(:conversation_id, :user_id, :message_id, :device_token, :is_synced) r;

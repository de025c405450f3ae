-- Measures a call of tacet.message_context, and returns what else is asked about the message; nulls for one that is gone.
-- found: 1, or 0 for one that is gone.
--
--   :message_id  tacet.message_id  the message

select
  m.found, (extract(epoch from m.ended_at - m.begun_at) * 1000000)::bigint as took_us, c.conversation_id, c.sender_id
from (
  select
    clock_timestamp() as begun_at, (select count(x) from tacet.message_context(:message_id) x) as found,
    clock_timestamp() as ended_at
) m
left join lateral (
  select x.conversation_id, x.sender_id
  from tacet.message_context(:message_id) x
  limit 1
) c on true;

-- Measures a call of tacet.is_mentioned for each user, as far as half a second allows.
-- found: 1 for a user who is mentioned.
--
--   :user_ids    tacet.user_id[]   the users
--   :message_id  tacet.message_id  the message

select m.user_id, m.found, (extract(epoch from m.ended_at - m.begun_at) * 1000000)::bigint as took_us
from (
  select
    u.id as user_id, clock_timestamp() as begun_at,
    tacet.is_mentioned(:message_id, u.id)::int::bigint as found,
    clock_timestamp() as ended_at
  from unnest(:user_ids) u (id)
  where clock_timestamp() < statement_timestamp() + interval '500 milliseconds'
) m;

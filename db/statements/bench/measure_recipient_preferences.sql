-- Measures a call of tacet.recipient_preferences for each user, as far as half a second allows.
-- found: 1 for a user who wants mentions only.
--
--   :user_ids         tacet.user_id[]        the users
--   :conversation_id  tacet.conversation_id  the conversation

select m.user_id, m.found, (extract(epoch from m.ended_at - m.begun_at) * 1000000)::bigint as took_us
from (
  select
    u.id as user_id, clock_timestamp() as begun_at,
    (
      select case when count(f) > 0 and bool_or(f.mentions_only) then 1::bigint else 0 end
      from tacet.recipient_preferences(u.id, 'message', :conversation_id, statement_timestamp()) f
    ) as found,
    clock_timestamp() as ended_at
  from unnest(:user_ids) u (id)
  where clock_timestamp() < statement_timestamp() + interval '500 milliseconds'
) m;

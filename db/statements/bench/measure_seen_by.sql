-- Measures a call of tacet.seen_by. found: how many take part. user_ids: the first of them.
--
--   :conversation_id  tacet.conversation_id  the conversation
--   :users_max        bigint                 users that are returned

select
  m.found, (extract(epoch from m.ended_at - m.begun_at) * 1000000)::bigint as took_us,
  array(
    select x.user_id from tacet.seen_by(:conversation_id) x where x.user_id is not null order by x.user_id limit :users_max
  ) as user_ids
from (
  select
    clock_timestamp() as begun_at, (select count(x) from tacet.seen_by(:conversation_id) x) as found,
    clock_timestamp() as ended_at
) m;

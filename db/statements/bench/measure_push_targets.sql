-- Measures a call of tacet.push_targets for each user, as far as half a second allows.
-- found: the targets that a claim takes.
--
--   :user_ids  tacet.user_id[]  the users

select m.user_id, m.found, (extract(epoch from m.ended_at - m.begun_at) * 1000000)::bigint as took_us
from (
  select
    u.id as user_id, clock_timestamp() as begun_at,
    (select count(x) from (select t from tacet.push_targets(u.id) t limit 50) x) as found,
    clock_timestamp() as ended_at
  from unnest(:user_ids) u (id)
  where clock_timestamp() < statement_timestamp() + interval '500 milliseconds'
) m;

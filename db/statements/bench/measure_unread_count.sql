-- Measures a call of tacet.unread_count for each user, as far as half a second allows.
-- found: the badge.
--
--   :user_ids  tacet.user_id[]  the users

select m.user_id, m.found, (extract(epoch from m.ended_at - m.begun_at) * 1000000)::bigint as took_us
from (
  select
    u.id as user_id, clock_timestamp() as begun_at,
    coalesce(
      case when tacet.counts_by_default_when_planned() then (select n.unread from tacet.count_unread(u.id) n) end,
      tacet.unread_count(u.id)) as found,
    clock_timestamp() as ended_at
  from unnest(:user_ids) u (id)
  where clock_timestamp() < statement_timestamp() + interval '500 milliseconds'
) m;

-- The stored analyses of engagement, the newest first. Times are microseconds since 1970.
--
--   :rows_max  bigint  how many are returned

select
  (extract(epoch from a.analysed_at) * 1000000)::bigint as analysed_us, (extract(epoch from a.period_start) * 1000000)::bigint as from_us,
  (extract(epoch from a.period_end) * 1000000)::bigint as to_us, a.total_users, a.active_users, a.recent_users, a.lapsed_users,
  a.churn_risk_users, a.sessions, a.session_seconds
from tacet.engagement_analyses a
order by a.analysed_at desc
limit :rows_max;

-- The stored analyses of engagement, the newest first. Times are microseconds since 1970.
--
--   :rows_max  bigint  how many are returned

select
  tacet.unix_us(a.analysed_at) as analysed_us, tacet.unix_us(a.period_start) as from_us,
  tacet.unix_us(a.period_end) as to_us, a.total_users, a.active_users, a.recent_users, a.lapsed_users,
  a.churn_risk_users, a.sessions, a.session_seconds
from tacet.engagement_analyses a
order by a.analysed_at desc
limit :rows_max;

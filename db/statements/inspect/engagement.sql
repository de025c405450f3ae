-- How engaged users are, and their sessions; see tacet.engagement.
--
--   :from_us  bigint  the beginning of the period, since 1970
--   :to_us    bigint  its end

select e.total_users, e.active_users, e.recent_users, e.lapsed_users, e.churn_risk_users, e.sessions, e.session_seconds
from tacet.engagement(
  timestamptz 'epoch' + :from_us * interval '1 microsecond', timestamptz 'epoch' + :to_us * interval '1 microsecond') e;

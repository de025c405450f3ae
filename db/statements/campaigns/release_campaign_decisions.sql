-- Gives leases back before they run out. A decision that was claimed again meanwhile stays leased.
--
--   :campaigns   text[]           the campaigns, one element for each decision
--   :user_ids    tacet.user_id[]  the users
--   :local_days  text[]           their days
--   :attempts    integer[]        the claims' attempts

update tacet.campaign_decisions d
set available_at = clock_timestamp(), attempts = d.attempts - 1
from unnest(:campaigns, :user_ids, :local_days, :attempts) as r (campaign, user_id, local_day, attempts)
where d.user_id = r.user_id and d.campaign = r.campaign and d.local_day = r.local_day::date
  and d.attempts = r.attempts and d.decision is null;

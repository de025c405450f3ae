-- Returns the users whom a campaign would look at now and has not looked at today, in the order of their ids; how many
-- they are, and the clock.
--
--   :campaign      text           the campaign
--   :only_user_id  tacet.user_id  the only user; null for all
--   :users_max     bigint         users returned at most

select
  e.user_id, e.time_zone, e.local_day::text, count(*) over () as users,
  (extract(epoch from clock_timestamp()) * 1000000)::bigint as now_us
from tacet.campaign_eligible(:campaign, clock_timestamp(), null, :only_user_id) e
where not exists (
  select
  from tacet.campaign_decisions d
  where d.user_id = e.user_id and d.campaign = :campaign and d.local_day = e.local_day)
order by e.user_id
limit :users_max;

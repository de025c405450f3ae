-- Enrols all users now, whatever the hour. Returns no row when there is no such campaign.
--
--   :campaign      text           the campaign
--   :only_user_id  tacet.user_id  the only user; null for all
--
-- It waits for the disk, whatever the session does otherwise.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select e.run_id, e.enrolled
from durable
cross join lateral tacet.enrol_campaign(:campaign, clock_timestamp(), 'request', null, :only_user_id) e;

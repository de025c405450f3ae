-- Returns a user's slots in a campaign, by their time.
--
--   :campaign  text           the campaign
--   :user_id   tacet.user_id  the user

select s.slot, s.phase, s.is_on, s.is_enabled, s.weekdays::int4[], s.time_zone
from tacet.slots s
where s.user_id = :user_id and s.campaign = :campaign
order by s.slot;

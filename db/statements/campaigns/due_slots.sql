-- Returns the hours of a campaign that have come and were not served: zone, day and instant.
--
--   :campaign  text     the campaign
--   :minutes   integer  minutes after midnight, where the campaign names no time
--   :zones     text[]   the zones to look at

select s.time_zone, s.local_day::text, (extract(epoch from s.due_at) * 1000000)::bigint as due_us
from tacet.due_slots(:campaign, time '00:00' + :minutes * interval '1 minute', :zones) s;

-- Returns the time zones of a campaign's audience.
--
--   :campaign  text  the campaign

select z from tacet.campaign_zones(:campaign) as z (z);

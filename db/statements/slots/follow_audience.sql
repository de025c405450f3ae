-- Follows a campaign's audience for one user; see tacet.follow_audience.
--
--   :campaign       text           the campaign
--   :default_slots  text           the campaign's slots, as JSON
--   :user_id        tacet.user_id  the user
--   :lead_us        bigint         how long before it is due a row may be rendered

select e.enrolled, e.moved from tacet.follow_audience(:campaign, :default_slots::jsonb, array[:user_id], :lead_us) e;

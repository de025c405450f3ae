-- Gives users without slots those of a campaign, and moves slots of users whose zone has changed; see tacet.enrol_slots.
--
--   :campaign       text           the campaign
--   :default_slots  text           the campaign's slots, as JSON
--   :only_user_id   tacet.user_id  the only user; null for all
--   :users_max      bigint         users at most
--   :lead_us        bigint         how long before it is due a row may be rendered

select e.enrolled, e.moved from tacet.enrol_slots(:campaign, :default_slots::jsonb, :only_user_id, :users_max, :lead_us) e;

-- Replaces a user's slots; see tacet.choose_slots.
--
--   :campaign   text           the campaign
--   :user_id    tacet.user_id  the user
--   :is_on      boolean        whether the user has the campaign on
--   :chosen     text           the slots, as JSON
--   :time_zone  text           the user's zone
--   :lead_us    bigint         how long before it is due a row may be rendered

select tacet.choose_slots(:campaign, :user_id, :is_on, :chosen::jsonb, :time_zone, :lead_us);

-- Returns the zone, the permission and the material of users for a slot campaign; see tacet.slot_situations.
--
--   :campaign  text             the campaign
--   :user_ids  tacet.user_id[]  the users

select s.user_id, s.time_zone, s.is_denied, s.material::text from tacet.slot_situations(:campaign, :user_ids) s;

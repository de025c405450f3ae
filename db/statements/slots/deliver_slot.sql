-- Sends a user's last rendered row of a slot; see tacet.deliver_slot.
--
--   :campaign  text           the campaign
--   :user_id   tacet.user_id  the user
--   :slot      text           the slot

select d.refusal, d.push_id from tacet.deliver_slot(:campaign, :user_id, :slot) d;

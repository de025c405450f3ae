-- Ends the claims of slots; see tacet.advance_slots.
--
--   :campaign  text             the campaign
--   :user_ids  tacet.user_id[]  the users
--   :slots     text[]           the slots
--   :attempts  integer[]        the claims' attempts
--   :lead_us   bigint           how long before it is due the next row may be rendered

select tacet.advance_slots(:campaign, :user_ids, :slots, :attempts, :lead_us);

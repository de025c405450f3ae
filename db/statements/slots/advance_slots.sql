-- Ends the claims of slots of which nothing is rendered; see tacet.advance_slots.
--
--   :campaign  text             the campaign
--   :user_ids  tacet.user_id[]  the users
--   :slots     text[]           the slots
--   :versions  integer[]        their versions
--   :attempts  integer[]        the claims' attempts
--   :lead_us   bigint           how long before it is due the next row may be rendered

select a.place from tacet.advance_slots(:campaign, :user_ids, :slots, :versions, :attempts, :lead_us) as a (place);

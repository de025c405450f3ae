-- Plays a message through the host contract; nothing of it stays.
--
--   :is_inserted  boolean  whether a message is inserted

select r.step, r.outcome, r.state, r.message from tacet.rehearse_message(:is_inserted) r;

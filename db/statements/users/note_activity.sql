-- Notes that users were active now. Returns how many were written; see tacet.note_active_users.
--
--   :user_ids  tacet.user_id[]  the users

select tacet.note_active_users(:user_ids, clock_timestamp());

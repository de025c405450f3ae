-- Moves the marks from which unread messages are counted.
--
--   :user_ids  tacet.user_id[]  the users

select tacet.move_unread_marks(:user_ids);

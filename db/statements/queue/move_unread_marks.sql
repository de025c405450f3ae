-- Moves the marks from which unread messages are counted.
--
--   :user_ids  uuid[]  the users

select tacet.move_unread_marks(:user_ids);

-- Cancels all pushes of a user that wait; see tacet.cancel_user_pushes. Returns how many.
--
--   :user_id  tacet.user_id  the user

select tacet.cancel_user_pushes(:user_id) as cancelled;

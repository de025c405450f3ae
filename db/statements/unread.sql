-- Badges and pushes for what stays unread.

-- name: unread_counts
-- Returns the badges of a full part's recipients, in the order of their ids; null for those who were not counted in time.
--
--   :user_ids  tacet.user_id[]  the recipients, in the order of their ids, each once

select tacet.unread_counts(:user_ids) as badges;

-- name: move_unread_marks
-- Moves the marks from which unread messages are counted.
--
--   :user_ids  tacet.user_id[]  the users

select tacet.move_unread_marks(:user_ids);

-- name: check_unread
-- Looks at pushes that are due to be unread; see tacet.check_unread. Returns how many were due.
--
--   :checks_max  integer  pushes at most

select tacet.check_unread(:checks_max);

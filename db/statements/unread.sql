-- Badges and pushes for what stays unread.

-- name: unread_counts(user_ids tacet.user_id[])
-- Returns the badges of a full part's recipients, in the order of their ids; null for those who were not counted in time.
--
-- user_ids: the recipients, in the order of their ids, each once.

select tacet.unread_counts(:user_ids) as badges;

-- name: move_unread_marks(user_ids tacet.user_id[])
-- Moves the marks from which unread messages are counted.

select tacet.move_unread_marks(:user_ids);

-- name: check_unread(checks_max integer)
-- Looks at pushes that are due to be unread; see tacet.check_unread. Returns how many were due.

select tacet.check_unread(:checks_max);

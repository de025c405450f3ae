-- Looks at pushes that are due to be unread; see tacet.check_unread. Returns how many were due.
--
--   :checks_max  integer  pushes at most

select tacet.check_unread(:checks_max);

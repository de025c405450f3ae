-- Lets Live Activities follow the rows of watched tables that have changed. Returns how many were taken from the queue; see
-- tacet.follow_changed_rows.
--
--   :rows_max  integer  rows at most

select tacet.follow_changed_rows(:rows_max);

-- Deletes rows of users who are to be forgotten; see tacet.erase_users.
--
--   :users_max   bigint  users at most
--   :rows_max    bigint  rows of each table at most
--   :settled_us  bigint  time after the first pass from which a clean pass is the last
--
-- Returns rows deleted, users finished, and whether to come again at once.

select r.erased, r.finished, r.has_more
from tacet.erase_users(:users_max::int, :rows_max::int, :settled_us * interval '1 microsecond') r;

-- Records that a push was opened, once. Returns whether the ledger has such a row.
--
--   :log_id   uuid           the row of the ledger
--   :user_id  tacet.user_id  the user

with opened as (
  update tacet.push_log l
  set opened = true, opened_at = clock_timestamp()
  where l.id = :log_id and l.user_id = :user_id and not l.opened
)
select exists (select from tacet.push_log l where l.id = :log_id and l.user_id = :user_id);

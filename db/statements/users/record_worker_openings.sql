-- Records pushes as opened that the worker of a browser reports. Pushes of another user than the browser's are left out. Returns
-- the user, or no row for an unknown browser.
--
--   :fetch_digest  text    SHA-256 of the token of the browser's worker, in hexadecimal
--   :log_ids       uuid[]  the rows of the ledger

with owner as materialized (
  select t.user_id
  from tacet.targets t
  where t.fetch_digest = :fetch_digest and t.dropped_at is null
  limit 1
), opened as (
  update tacet.push_log l
  set opened = true, opened_at = clock_timestamp()
  where l.id = any (:log_ids) and not l.opened and l.user_id = (select o.user_id from owner o)
)
select o.user_id from owner o;

-- Deletes messages that were too old when they were enqueued: a host has loaded what is no news. They have no
-- recipients, so they leave no rows in the ledger. Returns the number of rows.
--
--   :life_us   bigint  a message's life
--   :rows_max  bigint  rows at most
--
-- They are available since their own dates, at the old end of the index.

with discarded as (
  delete from tacet.inbox i
  where i.ctid = any (array(
    select x.ctid
    from tacet.inbox x
    where not x.is_claimed and x.available_at < now() - :life_us * interval '1 microsecond'
      and x.available_at < x.enqueued_at - :life_us * interval '1 microsecond'
    order by x.available_at
    limit :rows_max
    for update skip locked
  ))
  returning 1
)
select count(*) from discarded;

-- Says what waits to be claimed, without a claim. A claim that finds nothing costs several times as much, because the
-- executor sets up its whole plan first.
--
--   :look_back_us  bigint  how far back the claim of messages looks
--   :lanes         text[]  the lanes that take pushes now
--
-- Returns whether claim_messages would find something, whether rows of watched tables wait to be followed, and whether claim
-- would find something else or will then. Of new events only the newest 64 are examined: the others are seen when these are
-- claimed.

select
  exists (
    select
    from tacet.inbox i
    where (i.kind = 'message') is true and i.attempts = 0 and not i.is_claimed
      and i.available_at <= now() and i.available_at >= now() - :look_back_us * interval '1 microsecond'
  ) as has_messages,
  exists (select from tacet.changed_rows) as has_changed_rows,
  exists (
    select
    from (
      select i.kind, i.attempts, i.available_at
      from tacet.inbox i
      where not i.is_claimed and i.available_at <= now()
      order by i.available_at desc
      limit 64
    ) n
    where n.kind <> 'message' or n.attempts > 0 or n.available_at < now() - :look_back_us * interval '1 microsecond'
  )
  or exists (select from tacet.inbox i where i.is_claimed and i.available_at <= now())
  or exists (select from tacet.deliveries d where d.state <> 'waiting' and d.due_at <= now())
  or exists (select from tacet.deliveries d where d.state = 'waiting' and d.lane = any (:lanes))
  or exists (select from tacet.changed_rows) as has_others;

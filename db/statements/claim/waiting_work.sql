-- Says what waits to be claimed, without a claim. A claim that finds nothing costs several times as much, because the
-- executor sets up its whole plan first.
--
--   :look_back_us  bigint  how far back the claim of messages looks
--   :lanes         text[]  the lanes that take pushes now
--
-- Returns whether claim_messages would find something, and whether claim would find something else. Of the inbox only
-- the newest 1000 rows are examined: the others are seen when these are done.

with newest as materialized (
  select i.kind, i.attempts, i.is_claimed, i.leased_until, i.available_at
  from tacet.inbox i
  where i.available_at <= now()
  order by i.available_at desc
  limit 1000
)
select
  exists (
    select
    from newest n
    where n.is_claimed is false and n.kind = 'message' and n.attempts = 0
      and n.available_at >= now() - :look_back_us * interval '1 microsecond'
  ) as has_messages,
  exists (
    select
    from newest n
    where case
      when n.is_claimed is false then n.kind <> 'message' or n.attempts > 0
        or n.available_at < now() - :look_back_us * interval '1 microsecond'
      else coalesce(n.leased_until, n.available_at) <= now()
    end
  )
  or exists (select from tacet.deliveries d where d.state <> 'waiting' and d.due_at <= now())
  or exists (select from tacet.deliveries d where d.state = 'waiting' and d.lane = any (:lanes)) as has_others;

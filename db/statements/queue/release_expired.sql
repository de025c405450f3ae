-- Makes deliveries claimable that have waited for their lane for longer than a push is worth, so that they are recorded
-- as expired. The same applies to lanes with names of an older version, which no service serves.
--
--   :life_us   bigint  the message's life
--   :rows_max  bigint  rows at most
--
-- Returns the number of rows; 0 while another process does the same. The index by age is read from its old end, and the
-- names of the lanes one by one, so a look that finds nothing costs the same however much waits.

with recursive turn as materialized (
  select pg_try_advisory_xact_lock(1952539493, 3) as is_ours
), lane_names as (
  (select d.lane from tacet.deliveries d where d.state = 'waiting' order by d.lane limit 1)
  union all
  select (
    select d.lane from tacet.deliveries d where d.state = 'waiting' and d.lane > n.lane order by d.lane limit 1
  )
  from lane_names n
  where n.lane is not null
), expired as materialized (
  select x.ctid as place
  from tacet.deliveries x
  where (select t.is_ours from turn t) and x.state = 'waiting' and not x.is_claimed
    and x.enqueued_at - timestamptz 'epoch' + x.held_us * interval '1 microsecond'
      < now() - timestamptz 'epoch' - :life_us * interval '1 microsecond'
  order by x.enqueued_at - timestamptz 'epoch' + x.held_us * interval '1 microsecond'
  limit :rows_max
  for update skip locked
), unserved as materialized (
  select w.place
  from lane_names n
  cross join lateral (
    select x.ctid as place
    from tacet.deliveries x
    where x.state = 'waiting' and x.lane = n.lane and not x.is_claimed
    limit :rows_max
    for update skip locked
  ) w
  where (select t.is_ours from turn t) and strpos(n.lane, '/') = 0
), released as (
  update tacet.deliveries d
  set state = 'retryable', lane = null, due_at = now()
  where d.ctid = any (array(
    select e.place from expired e
    union
    select u.place from unserved u
    limit :rows_max
  ))
  returning 1
)
select count(*) from released;

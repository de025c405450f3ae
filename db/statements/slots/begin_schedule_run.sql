-- Returns whether a user's schedule is to be rendered now: not within some time of the last time.
--
--   :user_id   tacet.user_id  the user
--   :pause_us  bigint         the time

with begun as (
  insert into tacet.schedules as s (run_at, user_id)
  values (clock_timestamp(), :user_id)
  on conflict (user_id) do update
  set run_at = excluded.run_at
  where s.run_at is null or s.run_at < clock_timestamp() - :pause_us * interval '1 microsecond'
  returning 1
)
select exists (select from begun);

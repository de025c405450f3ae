-- Leases slots whose next row may be rendered, those that have waited longest first.
--
--   :slots_max  bigint  slots at most
--   :lease_us   bigint  the lease

with picked as materialized (
  select s.user_id, s.campaign, s.slot
  from tacet.slots s
  where s.available_at <= clock_timestamp()
  order by s.available_at
  limit :slots_max
  for update skip locked
)
update tacet.slots s
set available_at = clock_timestamp() + :lease_us * interval '1 microsecond', attempts = s.attempts + 1
from picked p
where s.user_id = p.user_id and s.campaign = p.campaign and s.slot = p.slot
returning
  s.campaign, s.user_id, s.slot, s.phase, s.fire_date::text, (extract(epoch from s.next_fire_at) * 1000000)::bigint as fire_us,
  s.time_zone, s.attempts, false as is_late;

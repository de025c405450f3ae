-- Leases slots whose next row may be rendered, those that have waited longest first.
--
--   :slots_max  bigint  slots at most
--   :lease_us   bigint  the lease

with picked as materialized (
  select s.ctid as place
  from tacet.slots s
  where s.available_at <= now()
  order by s.available_at
  limit :slots_max
  for update skip locked
)
update tacet.slots s
set available_at = now() + :lease_us * interval '1 microsecond', attempts = s.attempts + 1
where s.ctid = any (array(select p.place from picked p))
returning
  s.campaign, s.user_id, s.slot, s.phase, s.fire_date::text, (extract(epoch from s.next_fire_at) * 1000000)::bigint as fire_us,
  s.time_zone, s.version, s.attempts, false as is_late;

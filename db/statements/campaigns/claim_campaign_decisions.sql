-- Leases undecided users, those who have waited longest first.
--
--   :decisions_max  bigint  decisions at most
--   :lease_us       bigint  the lease
--   :late_after_us  bigint  how long after its hour a decision may still be made

with picked as materialized (
  select d.user_id, d.campaign, d.local_day
  from tacet.campaign_decisions d
  where d.decision is null and d.available_at <= (select clock_timestamp())
  order by d.available_at
  limit :decisions_max
  for update skip locked
)
update tacet.campaign_decisions d
set available_at = clock_timestamp() + :lease_us * interval '1 microsecond', attempts = d.attempts + 1
from picked p
where d.user_id = p.user_id and d.campaign = p.campaign and d.local_day = p.local_day
returning
  d.campaign, d.user_id, d.local_day::text, d.attempts::int4, d.time_zone,
  (extract(epoch from d.due_at) * 1000000)::bigint as due_us,
  d.due_at + :late_after_us * interval '1 microsecond' < clock_timestamp() as is_late;

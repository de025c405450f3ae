-- Returns what a user's slots are due to say: today's remaining and those of the next six days, the soonest first.
--
--   :user_id      tacet.user_id  the user
--   :only_stored  boolean        whether only rows are returned that are stored and not pushed

select
  s.campaign, s.user_id, s.slot, s.phase, d.fire_date::text, (extract(epoch from d.fire_at) * 1000000)::bigint as fire_us,
  s.time_zone, s.attempts, false as is_late
from tacet.slots s
cross join lateral tacet.slot_days(
  s.slot, s.time_zone, (clock_timestamp() at time zone s.time_zone)::date, 7, s.weekdays
) d
where s.user_id = :user_id and s.is_on and s.is_enabled and d.fire_at > clock_timestamp()
  and (
    not :only_stored or exists (
      select
      from tacet.notif_deliveries r
      where r.user_id = s.user_id and r.campaign = s.campaign and r.slot = s.slot and r.fire_date = d.fire_date
        and r.status in ('scheduled', 'armed')
    ))
order by d.fire_at;

-- Returns what a user's slots are due to say: today's remaining and those of the next six days, the soonest first. What is due within
-- the lead has its words so far where the campaign has a composer: a language model may have written them.
--
--   :user_id      tacet.user_id  the user
--   :only_stored  boolean        whether only rows are returned that are stored and not pushed, or that no device was allowed to show
--   :lead_us      bigint         the lead

select
  s.campaign, s.user_id, s.slot, s.phase, d.fire_date::text, (extract(epoch from d.fire_at) * 1000000)::bigint as fire_us,
  s.time_zone, s.version, s.attempts, false as is_late, w.title, w.body, w.category, w.data::text
from tacet.slots s
cross join lateral tacet.slot_days(
  s.slot, s.time_zone, (clock_timestamp() at time zone s.time_zone)::date, 7, s.weekdays
) d
left join lateral (
  select r.status, r.reason, r.title, r.body, r.category, r.data
  from tacet.notif_deliveries r
  where r.user_id = s.user_id and r.campaign = s.campaign and r.slot = s.slot and r.fire_date = d.fire_date
  limit 1
) r on true
left join lateral (
  select r.title, r.body, r.category, r.data
  from tacet.campaigns c
  where c.name = s.campaign and c.definition ? 'composer' and r.status in ('scheduled', 'armed')
    and d.fire_at - :lead_us * interval '1 microsecond' <= clock_timestamp()
) w on true
where s.user_id = :user_id and s.is_on and s.is_enabled and d.fire_at > clock_timestamp()
  and (not :only_stored or r.status in ('scheduled', 'armed') or r.reason = 'permission_denied')
order by d.fire_at;

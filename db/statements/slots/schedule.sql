-- Returns the rows that a device is to show, the soonest first.
--
--   :user_id       tacet.user_id  the user
--   :days          integer        days from today on
--   :rows_max      bigint         rows at most
--   :device_token  text           the device; null when unknown

select
  d.campaign, d.slot, d.fire_date::text, (extract(epoch from d.fire_at) * 1000000)::bigint as fire_us,
  to_char(d.fire_at at time zone d.time_zone, 'YYYY-MM-DD"T"HH24:MI:SS') as local_time, d.title, d.body, d.category,
  d.data::text, coalesce(p.tolerance_seconds, 0) as tolerance_seconds
from tacet.notif_deliveries d
left join tacet.device_permissions p on p.device_token = lower(:device_token) and p.user_id = d.user_id
where d.user_id = :user_id and d.status in ('scheduled', 'armed') and d.title is not null
  and d.fire_at > clock_timestamp() and p.is_denied is not true
  and d.fire_date < (clock_timestamp() at time zone d.time_zone)::date + :days
order by d.fire_at, d.campaign, d.slot
limit :rows_max;

-- Leases rows that are due, those that have waited longest first. A row is late after the grace, and when a later one of the
-- campaign is due for the same user.
--
-- The words of a row are returned where the campaign has a composer: they may be what a language model has written.
--
-- Slots fill the inbox no further than its readers empty it: a long inbox would make each look for messages longer.
--
--   :rows_max     bigint  rows at most
--   :waiting_max  bigint  events that wait in the inbox at most, these rows included
--   :lease_us     bigint  the lease
--   :grace_us     bigint  how long after its time a row may be pushed

with picked as materialized (
  select d.ctid as place
  from tacet.notif_deliveries d
  where d.status in ('scheduled', 'armed') and d.available_at < 'infinity' and d.available_at <= now()
  order by d.available_at
  limit least(:rows_max, greatest(:waiting_max - (
    select count(*)
    from (select from tacet.inbox i where not i.is_claimed and i.available_at <= now() limit :waiting_max) w
  ), 0))
  for update skip locked
), composed as materialized (
  select c.name from tacet.campaigns c where c.definition ? 'composer'
)
update tacet.notif_deliveries d
set available_at = now() + :lease_us * interval '1 microsecond', attempts = d.attempts + 1
where d.ctid = any (array(select p.place from picked p))
returning
  d.campaign, d.user_id, d.slot, d.phase, d.fire_date::text, (extract(epoch from d.fire_at) * 1000000)::bigint as fire_us,
  d.time_zone, 0 as version, d.attempts,
  d.fire_at + :grace_us * interval '1 microsecond' < now() or exists (
    select
    from tacet.notif_deliveries l
    where l.user_id = d.user_id and l.campaign = d.campaign and l.status in ('scheduled', 'armed')
      and l.fire_at > d.fire_at and l.fire_at <= now()
  ) as is_late,
  case when d.campaign = any (array(select c.name from composed c)) then d.title end as title,
  case when d.campaign = any (array(select c.name from composed c)) then d.body end as body, d.category,
  case when d.campaign = any (array(select c.name from composed c)) then d.data::text end as data;

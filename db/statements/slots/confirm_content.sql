-- Notes that a document has not changed on its host. Returns whether it could not be used before; no row when a later attempt
-- has begun.
--
--   :campaign   text           the campaign
--   :slot       text           the slot
--   :user_id    tacet.user_id  the user; null for a document of all users
--   :fire_date  text           the day of the attempt
--   :ttl_us     bigint         how long it may be used

update tacet.notif_contents c
set
  fetched_at = now(), fresh_until = now() + :ttl_us * interval '1 microsecond',
  failure_code = null
from (
  select k.ctid as place, tacet.content_refusal(k.document, k.fresh_until, clock_timestamp()) as refusal
  from tacet.notif_contents k
  where k.campaign = :campaign and k.slot = :slot
    and k.owner = coalesce('u' || :user_id::text, '') and k.fire_date = :fire_date::date
  for update
) k
where c.ctid = k.place
returning k.refusal is not null as is_changed;

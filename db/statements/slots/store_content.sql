-- Stores a document that was fetched. Returns whether something else may be said now; no row when a later attempt has begun.
--
--   :campaign   text           the campaign
--   :slot       text           the slot
--   :user_id    tacet.user_id  the user; null for a document of all users
--   :fire_date  text           the day of the attempt
--   :url        text           the campaign's URL
--   :etag       text           the document's version; null when the host names none
--   :document   text           the document, as JSON
--   :ttl_us     bigint         how long it may be used

update tacet.notif_contents c
set
  fetched_at = now(), fresh_until = now() + :ttl_us * interval '1 microsecond', url = :url,
  etag = :etag, failure_code = null, document = :document::jsonb
from (
  select k.ctid as place, k.document, tacet.content_refusal(k.document, k.fresh_until, clock_timestamp()) as refusal
  from tacet.notif_contents k
  where k.campaign = :campaign and k.slot = :slot
    and k.owner = coalesce('u' || :user_id::text, '') and k.fire_date = :fire_date::date
  for update
) k
where c.ctid = k.place
returning k.refusal is not null or k.document is distinct from c.document as is_changed;

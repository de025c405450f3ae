-- Returns stored documents by the place in the arrays, or why there is none to use.
--
--   :campaign  text             the campaign
--   :slots     text[]           the slots
--   :user_ids  tacet.user_id[]  the users; null for a document of all users

select r.place, f.refusal, case when f.refusal is null then c.document::text end as document
from unnest(:slots, :user_ids) with ordinality as r (slot, user_id, place)
left join lateral (
  select k.document, k.fresh_until
  from tacet.notif_contents k
  where k.campaign = :campaign and k.slot = r.slot and k.owner = coalesce('u' || r.user_id::text, '')
  limit 1
) c on true
cross join lateral tacet.content_refusal(c.document, c.fresh_until, clock_timestamp()) as f (refusal);

-- Returns stored documents by the place in the arrays, or why there is none to use.
--
--   :campaign  text             the campaign
--   :slots     text[]           the slots
--   :user_ids  tacet.user_id[]  the users; null for a document of all users

select r.place, f.refusal, case when f.refusal is null then c.document::text end as document
from unnest(:slots, :user_ids) with ordinality as r (slot, user_id, place)
left join tacet.notif_contents c
  on c.campaign = :campaign and c.slot = r.slot
    and c.owner = coalesce('u' || r.user_id::text, '')
cross join lateral tacet.content_refusal(c.document, c.fresh_until, clock_timestamp()) as f (refusal);

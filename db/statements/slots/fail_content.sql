-- Notes that a fetch has failed. The stored document stays.
--
--   :campaign   text           the campaign
--   :slot       text           the slot
--   :user_id    tacet.user_id  the user; null for a document of all users
--   :fire_date  text           the day of the attempt
--   :code       text           why

update tacet.notif_contents c
set failure_code = :code
where c.campaign = :campaign and c.slot = :slot
  and c.owner = coalesce('u' || :user_id::text, '') and c.fire_date = :fire_date::date;

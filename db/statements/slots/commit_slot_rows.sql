-- Queues the pushes of claimed rows, or ends the rows; see tacet.commit_slot_rows.
--
--   :campaign    text             the campaign
--   :way         text             push, local or auto
--   :user_ids    tacet.user_id[]  the users
--   :slots       text[]           the slots
--   :fire_dates  text[]           the days
--   :fire_us     bigint[]         when they were due when they were claimed, since 1970
--   :attempts    integer[]        the claims' attempts
--   :refusals    text[]           why a row is not pushed; null when nothing is known against it
--   :titles      text[]           the titles
--   :bodies      text[]           the bodies
--   :categories  text[]           the categories
--   :documents   text[]           the data, as JSON

select c.place, c.status, c.reason
from tacet.commit_slot_rows(
  :campaign, :way, :user_ids, :slots, :fire_dates::date[],
  array(select timestamptz 'epoch' + f.us * interval '1 microsecond' from unnest(:fire_us) with ordinality as f (us, place) order by f.place),
  :attempts, :refusals, :titles, :bodies, :categories, :documents) c;

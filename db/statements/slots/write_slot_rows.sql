-- Writes rendered rows, and returns the users whose rows have changed; see tacet.write_slot_rows. Arrays have an element for each
-- row.
--
--   :campaign    text             the campaign
--   :user_ids    tacet.user_id[]  the users
--   :slots       text[]           the slots
--   :phases      text[]           their phases
--   :fire_dates  text[]           the days
--   :fire_us     bigint[]         the instants, since 1970
--   :time_zones  text[]           the zones
--   :titles      text[]           the titles; null for a row without a text
--   :bodies      text[]           the bodies
--   :categories  text[]           the categories
--   :documents   text[]           the data, as JSON
--   :tells       boolean          whether devices of these users that have asked for a schedule are told

select
  w.user_id,
  case when :tells and exists (select from tacet.schedules s where s.user_id = w.user_id and s.run_at is not null)
    then tacet.tell_devices(w.user_id)
  end
from tacet.write_slot_rows(
  :campaign, :user_ids, :slots, :phases, :fire_dates::date[],
  array(select timestamptz 'epoch' + f.us * interval '1 microsecond' from unnest(:fire_us) with ordinality as f (us, place) order by f.place),
  :time_zones, :titles, :bodies, :categories, :documents) as w (user_id);

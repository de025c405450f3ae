-- Writes rendered rows, and returns the users whose rows have changed; see tacet.write_slot_rows. Arrays have an element for each
-- row.
--
--   :campaign    text             the campaign
--   :user_ids    tacet.user_id[]  the users
--   :slots       text[]           the slots
--   :versions    integer[]        the slots' versions
--   :attempts    integer[]        the claims' attempts
--   :phases      text[]           their phases
--   :fire_dates  text[]           the days
--   :fire_us     bigint[]         the instants, since 1970
--   :time_zones  text[]           the zones
--   :refusals    text[]           why a row is not pushed; null when nothing is known against it
--   :titles      text[]           the titles; null for a row without a text
--   :bodies      text[]           the bodies
--   :categories  text[]           the categories
--   :documents   text[]           the data, as JSON
--   :lead_us     bigint           of a claimed batch: how long before it is due the next row may be rendered; null for a window
--   :tells       boolean          whether devices of these users that have asked for a schedule are told

select
  w.user_id,
  case when :tells and exists (select from tacet.schedules s where s.user_id = w.user_id and s.run_at is not null)
    then tacet.tell_devices(w.user_id)
  end
from (
  select distinct r.user_id
  from tacet.write_slot_rows(
    :campaign, :user_ids, :slots, :versions, :attempts, :phases, :fire_dates::date[],
    array(select timestamptz 'epoch' + f.us * interval '1 microsecond' from unnest(:fire_us) with ordinality as f (us, place) order by f.place),
    :time_zones, :refusals, :titles, :bodies, :categories, :documents, :lead_us) as r (user_id)
  order by r.user_id
  offset 0
) w;

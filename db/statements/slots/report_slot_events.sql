-- Notes events that an app reports, and returns the places of those that were not known before; see
-- tacet.report_slot_events. Arrays have an element for each event, in the order in which they happened.
--
--   :user_id        tacet.user_id  the user
--   :ids            uuid[]         the events' ids
--   :codes          text[]         their codes
--   :identifiers    text[]         the identifiers of the rows they are about; null for none
--   :campaigns      text[]         the rows' campaigns; null for none
--   :slots          text[]         the rows' slots; null for none
--   :fire_dates     text[]         the rows' days; null for none
--   :device_tokens  text[]         the devices, in lower case; null when unknown
--   :circumstances  text[]         what else the app said, JSON objects
--   :happened_us    bigint[]       when they happened, since 1970

select r.place
from tacet.report_slot_events(
  :user_id, :ids, :codes, :identifiers, :campaigns, :slots, :fire_dates::date[], :device_tokens,
  :circumstances,
  array(
    select timestamptz 'epoch' + h.us * interval '1 microsecond'
    from unnest(:happened_us) with ordinality as h (us, place)
    order by h.place)) as r (place);

-- Enrols the users whose hour a slot is, and returns how many they are.
--
--   :campaign   text    the campaign
--   :time_zone  text    the slot's zone, as due_slots returned it
--   :local_day  text    its day
--   :due_us     bigint  its instant, since 1970

select tacet.enrol_slot(:campaign, :time_zone, :local_day::date,
  timestamptz 'epoch' + :due_us * interval '1 microsecond');

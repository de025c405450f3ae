-- Ends Live Activities after eight hours, and repeats what a trigger could not do; see tacet.tend_live_activities. Returns how many.
--
--   :activities_max  integer  activities at most

select tacet.tend_live_activities(:activities_max)::bigint;

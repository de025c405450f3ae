-- How far badges count, and how often presence is written.

set check_function_bodies = off;

-- The number up to which unread messages are counted: BADGE_MAX of the service whose session it is, 999 for other sessions.
create or replace function tacet.badge_max()
returns bigint
language sql stable
as $$
  select coalesce(nullif(current_setting('tacet.badge_max', true), '')::bigint, 999)
$$;

-- A report that repeats what the row says is written at most once in this time.
--
-- It is far shorter than the interval between reports, so that each regular report is written, and long enough for an app that
-- reports at each tap or for a user with several devices.
create or replace function tacet.presence_repeats_within()
returns interval
language sql immutable parallel safe
as $$ select interval '5 seconds' $$;

reset check_function_bodies;

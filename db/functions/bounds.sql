-- How far badges count, how often presence is written, and moments as programs read them.

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

-- A moment in microseconds since 1970, as programs read it. One that is infinite, or outside of the years 1 to 9999, is taken for the
-- nearest of them: a row that somebody has written by hand must not fail a statement that reads many.
create or replace function tacet.unix_us(moment timestamptz)
returns bigint
language sql immutable parallel safe
as $$
  select case
    when unix_us.moment is not null
      then (extract(epoch from least(greatest(unix_us.moment, timestamptz '0001-01-01 00:00Z'), timestamptz '9999-12-31 00:00Z')) * 1000000)::bigint
  end
$$;

-- Time zones and civil times.

set check_function_bodies = off;

-- Adds the zones that the server's tz database has gained. Every tacet migrate calls it; zones are added once or twice a year.
create or replace function tacet.learn_time_zones()
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  insert into tacet.time_zones (spelling, name)
  select lower(z.name collate "C"), z.name
  from pg_timezone_names z
  where z.name !~ '^(posix|right)/|^(Factory|localtime|posixrules)$' and octet_length(z.name) <= 64
  on conflict do nothing
$$;

-- A zone's name as the tz database spells it; null for anything else. The longest name has 32 bytes, so a text over 64 is not
-- compared. A stored name that the server has lost is null too.
create or replace function tacet.known_zone(zone text)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  known text;
begin
  if octet_length(zone) > 64 then
    return null;
  end if;
  select z.name into known from tacet.time_zones z where z.spelling = lower(zone collate "C");
  if found then
    perform now() at time zone known;
  end if;
  return known;
exception
  when invalid_parameter_value then
    return null;
end
$$;

-- Whether the server knows a time zone.
create or replace function tacet.is_time_zone(name text)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select tacet.known_zone(name) is not null
$$;

-- The instant of a civil time in a zone, as in RFC 5545, section 3.3.5: a skipped time uses the offset before the clock
-- change, a repeated time is its first occurrence.
--
-- PostgreSQL takes the second occurrence of a repeated time. The first is found by the offset of the day before, if the clock
-- shows the same time then.
create or replace function tacet.civil_instant(civil timestamp, zone text)
returns timestamptz
language plpgsql stable
as $$
declare
  late timestamptz := civil at time zone zone;
  day_before timestamptz := late - interval '24 hours';
  early timestamptz := (civil - (day_before at time zone zone - day_before at time zone 'UTC')) at time zone 'UTC';
begin
  return case when early < late and early at time zone zone = civil then early else late end;
end
$$;

-- How long the quiet hours around a moment still last; null outside of them. Null also in an unknown zone, because a push is
-- better than silence.
--
-- The quiet hours of a local day begin at quiet_start, inclusive, and end at quiet_end, exclusive, on the same day or, when
-- that is not later, on the next. A clock change may move an end, by up to a day where a zone has crossed the date line, so
-- the days around the present one are examined.
create or replace function tacet.quiet_hours_remaining(quiet_start time, quiet_end time, zone text, moment timestamptz)
returns interval
language plpgsql stable
as $$
declare
  known text := tacet.known_zone(zone);
begin
  return (
    select max(q.ends_at) - moment
    from generate_series(-2, 1) as days (since_today)
    cross join lateral (select (moment at time zone known)::date + days.since_today as first_day) d
    cross join lateral (
      select
        tacet.civil_instant(d.first_day + quiet_start, known) as starts_at,
        tacet.civil_instant(d.first_day + (quiet_end <= quiet_start)::int + quiet_end, known) as ends_at
    ) q
    where q.starts_at <= moment and moment < q.ends_at);
end
$$;

reset check_function_bodies;

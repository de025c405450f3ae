-- When slots are due: wall-clock times of a user's day.

-- A slot such as 0800 as a time of day.
create or replace function tacet.slot_time(slot text)
returns time
language sql immutable
as $$
  select make_time(left(slot, 2)::int, right(slot, 2)::int, 0)
$$;

-- The instant of a slot on a day; null on a day that the zone skips, because it crosses the date line.
create or replace function tacet.slot_instant(slot text, zone text, day date)
returns timestamptz
language plpgsql stable
as $$
declare
  instant timestamptz := tacet.civil_instant(day + tacet.slot_time(slot), zone);
begin
  -- The clock shows another day at that instant also where a clock change skips the slot's time just before midnight.
  if (instant at time zone zone)::date <> day and tacet.civil_instant(day, zone) >= tacet.civil_instant(day + 1, zone) then
    return null;
  end if;
  return instant;
end
$$;

-- The instants of a slot on some days, in the order of the days. first_day: in the zone.
create or replace function tacet.slot_days(slot text, zone text, first_day date, days int, weekdays smallint[])
returns table (fire_date date, fire_at timestamptz)
language sql stable
as $$
  select d.fire_date, d.fire_at
  from (
    select w.fire_date, tacet.slot_instant(slot, zone, w.fire_date) as fire_at
    from (
      select slot_days.first_day + n.days_later as fire_date
      from generate_series(0, slot_days.days - 1) as n (days_later)
    ) w
    where extract(isodow from w.fire_date)::smallint = any (slot_days.weekdays)
    offset 0
  ) d
  where d.fire_at is not null
$$;

-- When a slot is due next after a moment. No row without weekdays. A skipped time is due after the clock change, a repeated one at
-- its first occurrence. Any weekday comes within eight days, or fifteen where the zone skips one.
--
-- No order is asked for, so the days are looked at one by one, and the first that fits ends the search.
create or replace function tacet.next_fire(
  slot text, zone text, after timestamptz, weekdays smallint[] default '{1,2,3,4,5,6,7}'
)
returns table (fire_date date, fire_at timestamptz)
language plpgsql stable rows 1
as $$
begin
  return query
  select d.fire_date, d.fire_at
  from tacet.slot_days(slot, zone, (next_fire.after at time zone zone)::date, 15, weekdays) d
  where d.fire_at > next_fire.after
  limit 1;
end
$$;

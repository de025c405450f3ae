-- Time zones, civil times, and moments as programs read them.

-- Other names of zones, and the zones that they mean.
--
-- A server may lack either of two names of a zone: Debian 13 has Asia/Calcutta in a package of its own, and older servers do not
-- know Europe/Kyiv. Browsers and Android report names that are long out of use. PostgreSQL takes names of three letters, such as CET,
-- for a fixed offset. Systems without a zone report an offset, ahead of UTC with a plus; one with half hours means a zone that has it
-- all year.
create or replace function tacet.zone_aliases()
returns table (alias text, name text)
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select split_part(p.pair, ' ', 1), split_part(p.pair, ' ', 2)
  from regexp_split_to_table(
    $pairs$Africa/Asmera Africa/Nairobi, Africa/Timbuktu Africa/Abidjan,
      America/Argentina/ComodRivadavia America/Argentina/Catamarca, America/Atka America/Adak,
      America/Buenos_Aires America/Argentina/Buenos_Aires, America/Catamarca America/Argentina/Catamarca,
      America/Coral_Harbour America/Panama, America/Cordoba America/Argentina/Cordoba, America/Ensenada America/Tijuana,
      America/Fort_Wayne America/Indiana/Indianapolis, America/Godthab America/Nuuk,
      America/Indianapolis America/Indiana/Indianapolis, America/Jujuy America/Argentina/Jujuy,
      America/Knox_IN America/Indiana/Knox, America/Kralendijk America/Puerto_Rico,
      America/Louisville America/Kentucky/Louisville, America/Lower_Princes America/Puerto_Rico,
      America/Marigot America/Puerto_Rico, America/Mendoza America/Argentina/Mendoza, America/Montreal America/Toronto,
      America/Nipigon America/Toronto, America/Pangnirtung America/Iqaluit, America/Porto_Acre America/Rio_Branco,
      America/Rainy_River America/Winnipeg, America/Rosario America/Argentina/Cordoba, America/Santa_Isabel America/Tijuana,
      America/Shiprock America/Denver, America/St_Barthelemy America/Puerto_Rico, America/Thunder_Bay America/Toronto,
      America/Virgin America/Puerto_Rico, America/Yellowknife America/Edmonton, Antarctica/South_Pole Pacific/Auckland,
      Arctic/Longyearbyen Europe/Berlin, Asia/Ashkhabad Asia/Ashgabat, Asia/Calcutta Asia/Kolkata,
      Asia/Choibalsan Asia/Ulaanbaatar, Asia/Chongqing Asia/Shanghai, Asia/Chungking Asia/Shanghai, Asia/Dacca Asia/Dhaka,
      Asia/Harbin Asia/Shanghai, Asia/Istanbul Europe/Istanbul, Asia/Kashgar Asia/Urumqi, Asia/Katmandu Asia/Kathmandu,
      Asia/Macao Asia/Macau, Asia/Rangoon Asia/Yangon, Asia/Saigon Asia/Ho_Chi_Minh, Asia/Tel_Aviv Asia/Jerusalem,
      Asia/Thimbu Asia/Thimphu, Asia/Ujung_Pandang Asia/Makassar, Asia/Ulan_Bator Asia/Ulaanbaatar,
      Atlantic/Faeroe Atlantic/Faroe, Atlantic/Jan_Mayen Europe/Berlin, Australia/ACT Australia/Sydney,
      Australia/Canberra Australia/Sydney, Australia/Currie Australia/Hobart, Australia/LHI Australia/Lord_Howe,
      Australia/NSW Australia/Sydney, Australia/North Australia/Darwin, Australia/Queensland Australia/Brisbane,
      Australia/South Australia/Adelaide, Australia/Tasmania Australia/Hobart, Australia/Victoria Australia/Melbourne,
      Australia/West Australia/Perth, Australia/Yancowinna Australia/Broken_Hill, Brazil/Acre America/Rio_Branco,
      Brazil/DeNoronha America/Noronha, Brazil/East America/Sao_Paulo, Brazil/West America/Manaus, CET Europe/Brussels,
      CST6CDT America/Chicago, Canada/Atlantic America/Halifax, Canada/Central America/Winnipeg, Canada/Eastern America/Toronto,
      Canada/Mountain America/Edmonton, Canada/Newfoundland America/St_Johns, Canada/Pacific America/Vancouver,
      Canada/Saskatchewan America/Regina, Canada/Yukon America/Whitehorse, Chile/Continental America/Santiago,
      Chile/EasterIsland Pacific/Easter, Cuba America/Havana, EET Europe/Athens, EST America/Panama, EST5EDT America/New_York,
      Egypt Africa/Cairo, Eire Europe/Dublin, Europe/Belfast Europe/London, Europe/Bratislava Europe/Prague,
      Europe/Busingen Europe/Zurich, Europe/Kiev Europe/Kyiv, Europe/Mariehamn Europe/Helsinki, Europe/Nicosia Asia/Nicosia,
      Europe/Podgorica Europe/Belgrade, Europe/San_Marino Europe/Rome, Europe/Tiraspol Europe/Chisinau,
      Europe/Uzhgorod Europe/Kyiv, Europe/Vatican Europe/Rome, Europe/Zaporozhye Europe/Kyiv, GB Europe/London,
      GB-Eire Europe/London, HST Pacific/Honolulu, Hongkong Asia/Hong_Kong, Iceland Africa/Abidjan, Iran Asia/Tehran,
      Israel Asia/Jerusalem, Jamaica America/Jamaica, Japan Asia/Tokyo, Kwajalein Pacific/Kwajalein, Libya Africa/Tripoli,
      MET Europe/Brussels, MST America/Phoenix, MST7MDT America/Denver, Mexico/BajaNorte America/Tijuana,
      Mexico/BajaSur America/Mazatlan, Mexico/General America/Mexico_City, NZ Pacific/Auckland, NZ-CHAT Pacific/Chatham,
      Navajo America/Denver, PRC Asia/Shanghai, PST8PDT America/Los_Angeles, Pacific/Enderbury Pacific/Kanton,
      Pacific/Johnston Pacific/Honolulu, Pacific/Ponape Pacific/Guadalcanal, Pacific/Samoa Pacific/Pago_Pago,
      Pacific/Truk Pacific/Port_Moresby, Pacific/Yap Pacific/Port_Moresby, Poland Europe/Warsaw, Portugal Europe/Lisbon,
      ROC Asia/Taipei, ROK Asia/Seoul, Singapore Asia/Singapore, Turkey Europe/Istanbul, US/Alaska America/Anchorage,
      US/Aleutian America/Adak, US/Arizona America/Phoenix, US/Central America/Chicago,
      US/East-Indiana America/Indiana/Indianapolis, US/Eastern America/New_York, US/Hawaii Pacific/Honolulu,
      US/Indiana-Starke America/Indiana/Knox, US/Michigan America/Detroit, US/Mountain America/Denver,
      US/Pacific America/Los_Angeles, US/Pacific-New America/Los_Angeles, US/Samoa Pacific/Pago_Pago, W-SU Europe/Moscow,
      WET Europe/Lisbon$pairs$,
    '\s*,\s*') as p (pair)
  union all
  select w.prefix || f.form, o.name
  from (
    select
      to_char(h.hours, 'SG00') || ':00' as ahead,
      'Etc/GMT' || case when h.hours > 0 then '-' || h.hours when h.hours < 0 then '+' || -h.hours else '' end as name
    from generate_series(-12, 14) as h (hours)
    union all
    values ('-09:30', 'Pacific/Marquesas'), ('+03:30', 'Asia/Tehran'), ('+04:30', 'Asia/Kabul'), ('+05:30', 'Asia/Kolkata'),
      ('+05:45', 'Asia/Kathmandu'), ('+06:30', 'Asia/Yangon'), ('+08:45', 'Australia/Eucla'), ('+09:30', 'Australia/Darwin')
  ) o
  cross join lateral (
    values (o.ahead), (replace(o.ahead, ':', '')), (replace(o.ahead, ':00', '')), (regexp_replace(o.ahead, '0?(\d+):00', '\1'))
  ) as f (form)
  cross join (values (''), ('GMT'), ('UTC')) as w (prefix)
$$;

-- Adds the names that the server's tz database has gained, and the aliases of what it has. Every tacet migrate calls it; zones are
-- added once or twice a year.
--
-- rules: a digest of the zone's offsets in the weeks of two years, which are always the same, so that digests of different days can be
-- compared. A name that the server has lost keeps its own, unless an alias takes its place.
create or replace function tacet.learn_time_zones()
returns void
language sql volatile
as $$
  with named as materialized (
    select z.name
    from pg_timezone_names z
    where z.name !~ '^(posix|right)/|^(Factory|localtime|posixrules)$' and octet_length(z.name) <= 64
  ), meant as materialized (
    select distinct on (m.spelling) m.spelling, m.name
    from (
      select lower(n.name collate "C") as spelling, n.name, 2 as rank from named n
      union all
      select lower(a.alias collate "C"), a.name, case when a.alias ~ '^[A-Z]{3}$' then 1 else 3 end
      from tacet.zone_aliases() a
      join named n on n.name = a.name
      union all
      select lower(a.name collate "C"), a.alias, 4 from tacet.zone_aliases() a join named n on n.name = a.alias
    ) m
    order by m.spelling, m.rank, m.name
  ), ruled as (
    select
      z.name, md5(array_agg(w.moment at time zone z.name - w.moment at time zone 'UTC' order by w.moment)::text) as rules
    from (select distinct m.name from meant m) z
    cross join generate_series(timestamptz '2026-01-01 00:00Z', '2027-12-31 00:00Z', interval '168 hours') as w (moment)
    group by z.name
  )
  insert into tacet.time_zones as t (spelling, name, rules)
  select m.spelling, m.name, r.rules from meant m join ruled r on r.name = m.name
  on conflict (spelling) do update
  set name = excluded.name, rules = excluded.rules
  where (t.name, t.rules) is distinct from (excluded.name, excluded.rules)
$$;

-- The zone that a name means, as the server's tz database spells it; null for anything else. The longest name has 32 bytes, so a text
-- over 64 is not compared. A name that the server has lost since it was noted means a zone with the same rules.
-- Its cost has a condition on the zone come before what an audience asks of functions.
create or replace function tacet.known_zone(zone text)
returns text
language plpgsql stable cost 10
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
    return tacet.zone_like(known);
end
$$;

-- The zones that the server knows, each by its own name.
create or replace function tacet.known_zones()
returns setof text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select k.zone
  from (select tacet.known_zone(min(z.spelling)) as zone from tacet.time_zones z group by z.name offset 0) k
  where k.zone is not null
$$;

-- A zone with the rules of a noted one that the server has lost; null where it has none.
create or replace function tacet.zone_like(lost text)
returns text
language plpgsql stable
as $$
declare
  other text;
begin
  for other in
    select distinct o.name
    from tacet.time_zones z
    join tacet.time_zones o on o.rules = z.rules and o.name <> z.name
    where z.name = zone_like.lost
    order by o.name
  loop
    begin
      perform now() at time zone other;
      return other;
    exception
      when invalid_parameter_value then null;
    end;
  end loop;
  return null;
end
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

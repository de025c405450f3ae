-- Returns names of time zones that the server has lost since they were noted, and the zones that users there have instead; null for UTC.

select distinct z.name, tacet.known_zone(z.spelling) as stand_in
from tacet.time_zones z
where z.name not in (select n.name from pg_timezone_names n)
order by z.name
limit 1000;

-- Returns the microseconds until an hour of a campaign comes or the lease of an undecided user ends; null when neither is to
-- come. Each campaign runs at least once in eight days, so further days need no look.
--
--   :minutes    integer  minutes after midnight, where a campaign names no time
--   :campaigns  text[]   campaigns
--   :zones      text[]   a zone of each

select (extract(epoch from least(
  (
    select min(s.due_at)
    from unnest(:campaigns, :zones) as p (campaign, zone_name)
    join tacet.campaigns c on c.name = p.campaign and c.is_active and c.is_scheduled
    cross join lateral (select coalesce(tacet.known_zone(p.zone_name), 'UTC') as zone offset 0) k
    cross join generate_series(0, 8) as n (days)
    cross join lateral (select (now() at time zone k.zone)::date + n.days as local_day) d
    cross join lateral (
      select tacet.civil_instant(
        d.local_day + coalesce(c.local_time, time '00:00' + :minutes * interval '1 minute'), k.zone) as due_at
    ) s
    where extract(isodow from d.local_day)::smallint = any (c.weekdays) and s.due_at > now()
  ),
  (select min(d.available_at) from tacet.campaign_decisions d where d.decision is null)
) - now()) * 1000000)::bigint as wait;

-- Whom a campaign may concern, and what keeps it from them.

-- Whether a campaign that comes with Tacet is to be inserted: once. What an operator has removed does not come back.
create or replace function tacet.offers_campaign(name text)
returns boolean
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  update tacet.settings s
  set offered_campaigns = s.offered_campaigns || offers_campaign.name
  where offers_campaign.name <> all (s.offered_campaigns);
  return found;
end
$$;

-- A page of a campaign's audience, in the order of ids: each user's zone and day, and whether the campaign considers the user for the hour:
-- in one of the zones, with nothing that the host or the gate says against it, with an account, and without an occasion of that day or a
-- later one, which a user has who has crossed the date line. Where the hour has come less than two hours earlier, it is also for those whose
-- last occasion was in another zone: they may have moved there meanwhile. zones: null for all. local_time: when the user wants the push;
-- null for the campaign's hour. pending_day: of a push that waits for that time of a zone that the user has left; null for none.
-- after_user, users_max: null for all users.
--
-- is_guarded: after an error. The gate is not asked, which every decision asks again, for one user at a time; and users of other zones are
-- left out before the audience asks more of them, so that a row of one that it cannot read keeps the hours of the others.
--
-- What depends on zone and gap alone is computed once for each pair; the rest is an index look-up for each user. The service's sessions
-- avoid sequential scans, because queues are mostly empty. For a whole audience they are the best plan; a page follows the order of an
-- index.
create or replace function tacet.campaign_page(
  campaign tacet.campaigns, due_at timestamptz, zones text[] default null, only_user tacet.user_id default null,
  after_user tacet.user_id default null, users_max bigint default null, is_guarded boolean default false
)
returns table (
  user_id tacet.user_id, time_zone text, local_day date, local_time time, is_considered boolean, pending_day date
)
language plpgsql stable
set enable_seqscan = on
as $$
begin
  perform set_config('enable_seqscan', (users_max is null)::text, true);
  return query execute format(
    $query$
      with page as materialized (
        select
          a.user_id, case when octet_length(a.time_zone) <= 64 then a.time_zone else '' end as zone_name, a.gap_days,
          a.local_time, a.refusal
        from (%s) a
        where ($4 is null or a.user_id > $4) and (not $6 or $2 is null or coalesce(tacet.known_zone(a.time_zone), 'UTC') = any ($2))
        order by a.user_id
        limit $5
      ), places as materialized (
        select
          n.zone_name, n.gap_days, z.zone, d.local_day, d.day_start, d.day_end, d.gap_start,
          $2 is null or z.zone = any ($2) as is_due, h.due_at > $1 - interval '2 hours' and h.due_at < $1 as was_due
        from (select distinct p.zone_name, p.gap_days from page p where p.gap_days is not null) n
        -- offset 0 keeps it at one call for each.
        cross join lateral (select coalesce(tacet.known_zone(n.zone_name), 'UTC') as zone offset 0) z
        cross join lateral tacet.campaign_day(z.zone, n.gap_days, $1) d
        cross join lateral (select tacet.campaign_hour($10, ($1 at time zone coalesce(tacet.known_zone(($2)[1]), 'UTC'))::time, z.zone, d.local_day) as due_at) h
      )
      select
        p.user_id, z.zone, z.local_day, p.local_time,
        p.refusal is null and (z.is_due or z.was_due and l.time_zone <> z.zone) is true and (l.fire_date >= z.local_day) is not true
          and ($6 or g.reason is null and ($9 or tacet.has_account(p.user_id))),
        case when l.status = 'scheduled' and l.fire_at > $1 and l.time_zone <> z.zone and p.local_time is not null then l.fire_date end
      from page p
      left join places z on z.zone_name = p.zone_name and z.gap_days = p.gap_days
      left join lateral (
        select d.time_zone, d.fire_date, d.fire_at, d.status from tacet.occasions d
        where (z.is_due or z.was_due or p.local_time is not null and p.refusal is null)
          and d.user_id = p.user_id and d.campaign = ($10).name and d.slot = ''
        order by d.fire_date desc
        limit 1
      ) l on true
      cross join lateral tacet.campaign_gate(p.user_id, $7, $8, z.local_day, z.day_start, z.day_end, z.gap_start) g
    $query$,
    tacet.audience_query(campaign.audience, '$1', '$3'))
  using
    due_at, zones, only_user, after_user, users_max, is_guarded, campaign.needs_no_session, campaign.cap_group,
    not tacet.uses_accounts(), campaign;
end
$$;

-- Why a user of an audience gets no push of a campaign; null when nothing keeps it back. The moments come from
-- tacet.campaign_day for the hour that is served.
--
-- cap_group: of the campaign; null for one without a cap, which looks at no earlier push. A push in the ledger counts by its type, one of
-- those of the group, whose campaigns share one cap, unless its metadata names a campaign outside the group: campaigns of several groups
-- may have the same types.
--
-- The ledger counts sent pushes and its own days: one push a day, whatever the gap. Two daily runs are a day apart, however
-- long each takes to compose. So a push counts from the hour it was composed for (due_at in its metadata), and that hour may
-- come half an hour early, because another scheduler's minute is not exact. Rows without a usable due_at count from the second
-- they were sent.
create or replace function tacet.campaign_gate(
  user_id tacet.user_id, needs_no_session boolean, cap_group text, local_day date, day_start timestamptz, day_end timestamptz,
  gap_start timestamptz
)
returns table (reason text)
language sql stable
as $$
  select
    case
      when exists (
        select from tacet.frequency_caps f
        where f.user_id = campaign_gate.user_id and f.cap_group = campaign_gate.cap_group
          and f.committed_day >= campaign_gate.local_day
      ) then 'pushed_today'
      when campaign_gate.cap_group is not null and exists (
        select from tacet.push_log l
        where l.user_id = campaign_gate.user_id and l.push_type = any (array(
            select unnest(c.push_types) from tacet.campaigns c where c.cap_group = campaign_gate.cap_group))
          and (l.push_type <> 'message') is true
          and l.sent_at > least(campaign_gate.gap_start, campaign_gate.day_start - interval '1 microsecond')
          and (
            l.sent_at >= campaign_gate.day_start
            or case
              -- Up to the year 5138: numbers of JSON may be larger than any time.
              when jsonb_typeof(l.metadata -> 'due_at') = 'number' and l.metadata -> 'due_at' between '0' and '1e11'
                then to_timestamp((l.metadata ->> 'due_at')::float8) - interval '30 minutes'
              else l.sent_at
            end > campaign_gate.gap_start)
          and (
            l.metadata ->> 'campaign' in (
              select c.name from tacet.campaigns c where c.cap_group is distinct from campaign_gate.cap_group)
          ) is not true
      ) then 'recently_pushed'
      when campaign_gate.needs_no_session and exists (
        select from tacet.sessions_between(campaign_gate.user_id, campaign_gate.day_start, campaign_gate.day_end)
      ) then 'session_today'
    end
$$;

-- A user's day at a moment, and the moment gap_days earlier by the user's clock. At most a year earlier, because the number
-- may come from the host.
create or replace function tacet.campaign_day(zone text, gap_days int, moment timestamptz)
returns table (local_day date, day_start timestamptz, day_end timestamptz, gap_start timestamptz)
language sql stable
as $$
  select
    d.local_time::date, tacet.civil_instant(d.local_time::date, zone), tacet.civil_instant(d.local_time::date + 1, zone),
    tacet.civil_instant(d.local_time - least(greatest(gap_days, 0), 366) * interval '1 day', zone)
  from (select moment at time zone zone as local_time) d
$$;

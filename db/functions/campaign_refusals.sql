-- What keeps campaigns from users, and what is known of users.

-- Why no device of a user may get a push of a kind; null when one may. armed_by: the devices that show it already. excluded: those, and
-- those that may show nothing. What the pipeline's gate looks at is looked at here too, so that the occasion says it.
--
-- Has no settings of its own and no volatile part, so that it becomes a part of the statements that ask for many users.
create or replace function tacet.push_refusal(user_id tacet.user_id, kind text, armed_by text[], moment timestamptz)
returns table (refusal text, excluded text)
language sql stable rows 1
as $$
  select
    case
      when t.devices = 0 then 'no_tokens'
      when t.denied = t.devices then 'permission_denied'
      when t.excluded = t.devices then 'armed'
      when p.is_opted_out then 'opted_out'
      when p.is_muted then 'muted'
      when p.quiet_hours_remaining > interval '0' then 'quiet_hours'
    end,
    t.tokens
  from (
    select
      count(*) as devices, count(*) filter (where x.is_denied) as denied,
      count(*) filter (where x.is_denied or x.is_armed) as excluded,
      string_agg(lower(x.address), ' ') filter (where x.is_denied or x.is_armed) as tokens
    from (
      select
        d.address,
        exists (
          select from tacet.device_permissions m
          where m.device_token = lower(d.address) and m.user_id = push_refusal.user_id and m.is_denied
        ) as is_denied,
        lower(d.address) = any (push_refusal.armed_by) as is_armed
      from tacet.push_targets(push_refusal.user_id) d
      -- Each device is asked about once.
      offset 0
    ) x
  ) t
  cross join lateral tacet.recipient_preferences(push_refusal.user_id, push_refusal.kind, null, push_refusal.moment) p
$$;

-- What an audience says of users, by their place in the array. zone_name: cut, because no zone's name has more than 64 bytes; null for
-- a user outside of the audience. This and the material are a campaign's own, so they are planned at each call, and all else once.
create or replace function tacet.said_of_users(audience text, user_ids tacet.user_id[], moment timestamptz)
returns table (place bigint, zone_name text, gap_days int, refusal text)
language plpgsql stable
as $$
begin
  return query execute format(
    $query$
      select r.place, case when a.user_id is not null then coalesce(left(a.time_zone, 65), '') end, coalesce(a.gap_days, 0), a.refusal
      from unnest($1) with ordinality as r (user_id, place)
      left join lateral (select * from (%s) a where a.user_id = r.user_id limit 1) a on true
    $query$,
    tacet.audience_query(said_of_users.audience, '$2', 'r.user_id'))
  using user_ids, moment;
end
$$;

-- Why a campaign that comes at an hour may not push to users now, by their place in the arrays; null when nothing keeps a push back. What
-- cannot be determined keeps it back: where that fails for all users together, each is asked about apart. days: null for today. push_types:
-- null while unknown.
create or replace function tacet.campaign_refusals(
  campaign text, user_ids tacet.user_id[], due_ats timestamptz[], days date[], push_types text[]
)
returns table (place bigint, refusal text)
language plpgsql volatile
as $$
#variable_conflict use_variable
declare
  found_campaign tacet.campaigns;
  moment timestamptz := clock_timestamp();
  refusals text[];
begin
  select c.* into found_campaign from tacet.campaigns c where c.name = campaign and c.is_active;
  if not found then
    return query select r.place, 'campaign_inactive' from unnest(user_ids) with ordinality as r (user_id, place);
    return;
  end if;
  -- Kept until all is known: rows that are returned before an error stay returned.
  with asked as materialized (
    select r.*, a.zone_name, a.gap_days, a.refusal
    from unnest(user_ids, due_ats, days, push_types) with ordinality as r (user_id, due_at, day, push_type, place)
    join tacet.said_of_users(found_campaign.audience, user_ids, moment) a on a.place = r.place
  ), places as materialized (
    select p.*, d.*
    from (
      select n.zone_name, n.gap_days, n.due_at, coalesce(tacet.known_zone(n.zone_name), 'UTC') as zone
      from (select distinct a.zone_name, a.gap_days, a.due_at from asked a where a.zone_name is not null) n
      offset 0
    ) p
    cross join lateral tacet.campaign_day(p.zone, p.gap_days, p.due_at) d
  )
  select array_agg(
    case
      when a.zone_name is null then 'not_in_audience'
      -- It becomes a label of metrics, so it is a word.
      when a.refusal is not null then coalesce(substring(a.refusal from '^[a-z][a-z_]{0,39}$'), 'refused_by_host')
      when (moment at time zone p.zone)::date <> p.local_day or p.local_day <> a.day then 'day_over'
      else coalesce(
        (
          select g.reason
          from tacet.campaign_gate(
            a.user_id, found_campaign.needs_no_session, found_campaign.cap_group, p.local_day, p.day_start, p.day_end, p.gap_start
          ) g
        ),
        case when not tacet.has_account(a.user_id) and tacet.uses_accounts() then 'no_account' end,
        (select r.refusal from tacet.push_refusal(a.user_id, coalesce(a.push_type, ''), '{}', moment) r))
    end
    order by a.place)
  into refusals
  from asked a
  left join places p on p.zone_name = a.zone_name and p.gap_days = a.gap_days and p.due_at = a.due_at;
  return query select r.place, r.refusal from unnest(refusals) with ordinality as r (refusal, place);
exception
  when others then
    if cardinality(user_ids) = 1 then
      raise warning 'tacet: cannot tell whether campaign % may send: % (%)', campaign, sqlerrm, sqlstate;
      return query select 1::bigint, 'eligibility_unknown';
      return;
    end if;
    return query
    select n.place::bigint, r.refusal
    from generate_subscripts(user_ids, 1) as n (place)
    cross join lateral tacet.campaign_refusals(
      campaign, user_ids[n.place:n.place], due_ats[n.place:n.place], days[n.place:n.place], push_types[n.place:n.place]) r;
end
$$;

-- What a campaign knows of some users: the zone, null for a user outside of its audience, why nothing is said to the user, and the material
-- where nothing is known against it. due_at, day: of the occasions of a campaign that comes at an hour, which has the zone of the
-- enrolment. A user's zone is the audience's, else that of the newest device, else UTC.
create or replace function tacet.campaign_situations(
  campaign text, user_ids tacet.user_id[], due_at timestamptz default null, day date default null
)
returns table (user_id tacet.user_id, time_zone text, refusal text, material jsonb)
language plpgsql stable
as $$
#variable_conflict use_variable
declare
  found_campaign tacet.campaigns;
  moment timestamptz := clock_timestamp();
  users tacet.user_id[] := array(select distinct n.user_id from unnest(user_ids) as n (user_id));
  zones text[];
  refusals text[];
  known text;
begin
  select c.* into found_campaign from tacet.campaigns c where c.name = campaign;
  if not found or users = '{}' then
    return;
  end if;
  if due_at is not null then
    refusals := array(
      select r.refusal
      from tacet.campaign_refusals(
        campaign, users, array_fill(due_at, array[cardinality(users)]), array_fill(day, array[cardinality(users)]),
        array_fill(null::text, array[cardinality(users)])) r
      order by r.place);
  else
    with said as materialized (
      select users[a.place] as user_id, a.place, case when a.refusal is null then a.zone_name end as zone_name
      from tacet.said_of_users(found_campaign.audience, users, moment) a
    ), known_zones as materialized (
      select n.zone_name, tacet.known_zone(n.zone_name) as zone from (select distinct s.zone_name from said s) n
    )
    select
      array_agg(
        case when s.zone_name is not null then coalesce(z.zone, tacet.user_time_zone(s.user_id), 'UTC') end order by s.place),
      array_agg(
        case
          when not found_campaign.is_active then 'campaign_inactive' when s.zone_name is null then 'not_in_audience'
          when exists (select from tacet.device_permissions m where m.user_id = s.user_id and m.is_denied)
            and tacet.is_denied(s.user_id) then 'permission_denied'
        end
        order by s.place)
    into zones, refusals
    from said s
    left join known_zones z on z.zone_name = s.zone_name;
  end if;
  known := tacet.material_query(found_campaign.material, 'r.user_id', '$4', 'r.time_zone');
  if found_campaign.definition::text like '%"localised": {%' then
    known := format('jsonb_build_object(''locale'', tacet.user_locale(r.user_id)) || jsonb_strip_nulls(%s)', known);
  end if;
  return query execute format(
    $query$
      select r.user_id, r.time_zone, r.refusal, case when r.refusal is null then %s end
      from unnest($1, $2, $3) as r (user_id, time_zone, refusal)
    $query$,
    known)
  using users, zones, refusals, moment;
end
$$;

-- What is known of one user, whoever it is; for tacet doctor.
create or replace function tacet.campaign_material(campaign text, user_id tacet.user_id)
returns jsonb
language plpgsql stable
as $$
declare
  material jsonb;
begin
  execute 'select ' || tacet.material_query(
    (select c.material from tacet.campaigns c where c.name = campaign_material.campaign), '$1', '$2', '''UTC''')
  into material
  using campaign_material.user_id, clock_timestamp();
  return material;
end
$$;

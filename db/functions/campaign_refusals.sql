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
      when p.is_opted_out then 'opted_out'
      when p.is_muted then 'muted'
      when p.quiet_hours_remaining > interval '0' then 'quiet_hours'
      when t.excluded = t.devices then 'armed'
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
        tacet.shows_nothing(push_refusal.user_id, d.address) as is_denied,
        lower(d.address) = any (push_refusal.armed_by) as is_armed
      from tacet.push_targets(push_refusal.user_id) d
      -- Each device is asked about once.
      offset 0
    ) x
  ) t
  cross join lateral tacet.recipient_preferences(push_refusal.user_id, push_refusal.kind, null, push_refusal.moment) p
$$;

-- Why a campaign that comes at an hour may not push to a user now; null when nothing keeps it back. What cannot be determined keeps
-- the push back. push_type: null while unknown.
create or replace function tacet.campaign_refusal(
  campaign text, user_id tacet.user_id, due_at timestamptz, local_day date, push_type text
)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  found_campaign tacet.campaigns;
  found_day record;
  found_zone text;
  found_gap int;
  refusal text;
begin
  select c.* into found_campaign from tacet.campaigns c where c.name = campaign_refusal.campaign and c.is_active;
  if not found then
    return 'campaign_inactive';
  end if;
  execute format(
    'select coalesce(tacet.known_zone(a.time_zone), ''UTC''), a.gap_days, a.refusal from (%s) a limit 1',
    tacet.audience_query(found_campaign.audience, '$1', '$2'))
  into found_zone, found_gap, refusal
  using clock_timestamp(), campaign_refusal.user_id;
  if found_zone is null then
    return 'not_in_audience';
  end if;
  if refusal is not null then
    -- It becomes a label of metrics, so it is a word.
    return coalesce(substring(refusal from '^[a-z][a-z_]{0,39}$'), 'refused_by_host');
  end if;
  select d.* into found_day from tacet.campaign_day(found_zone, found_gap, campaign_refusal.due_at) d;
  if (clock_timestamp() at time zone found_zone)::date <> found_day.local_day
    or found_day.local_day <> campaign_refusal.local_day
  then
    return 'day_over';
  end if;
  select g.reason into refusal
  from tacet.campaign_gate(
    campaign_refusal.user_id, found_campaign.needs_no_session, found_campaign.cap_group,
    tacet.campaign_push_types(found_campaign.cap_group), found_day.local_day, found_day.day_start, found_day.day_end,
    found_day.gap_start
  ) g;
  if refusal is not null then
    return refusal;
  end if;
  if not tacet.has_account(campaign_refusal.user_id) and tacet.uses_accounts() then
    return 'no_account';
  end if;
  select p.refusal into refusal
  from tacet.push_refusal(campaign_refusal.user_id, coalesce(campaign_refusal.push_type, ''), '{}', clock_timestamp()) p;
  return refusal;
exception
  when others then
    raise warning 'tacet: cannot tell whether campaign % may send: % (%)', campaign_refusal.campaign, sqlerrm, sqlstate;
    return 'eligibility_unknown';
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
set search_path = pg_catalog, pg_temp
as $$
declare
  found_campaign tacet.campaigns;
  known text;
  zone text := 'select null::text as time_zone';
  refusal text := 'tacet.campaign_refusal($3, u.user_id, $4, $5, null)';
begin
  select c.* into found_campaign from tacet.campaigns c where c.name = campaign_situations.campaign;
  if not found then
    return;
  end if;
  known := format('%s(u.user_id, $2)', found_campaign.material::regproc);
  if tacet.is_localised(found_campaign.definition) then
    known := format('jsonb_build_object(''locale'', tacet.user_locale(u.user_id)) || jsonb_strip_nulls(%s)', known);
  end if;
  if due_at is null then
    zone := format(
      $zone$
        select coalesce(tacet.known_zone(left(a.time_zone, 65)), tacet.user_time_zone(u.user_id), 'UTC') as time_zone
        from (%s) a
        where a.user_id = u.user_id and a.refusal is null
        limit 1
      $zone$,
      tacet.audience_query(found_campaign.audience, '$2', 'u.user_id'));
    refusal := format(
      $refusal$
        case when %L then 'campaign_inactive' when z.time_zone is null then 'not_in_audience'
          when tacet.is_denied(u.user_id) then 'permission_denied' end
      $refusal$,
      not found_campaign.is_active);
  end if;
  return query execute format(
    $query$
      select u.user_id, z.time_zone, r.refusal, case when r.refusal is null then %s end
      from (select distinct n.user_id from unnest($1) as n (user_id)) u
      left join lateral (%s) z on true
      cross join lateral (select %s as refusal offset 0) r
    $query$,
    known, zone, refusal)
  using user_ids, clock_timestamp(), campaign, due_at, day;
end
$$;

-- What is known of one user, whoever it is; for tacet doctor.
create or replace function tacet.campaign_material(campaign text, user_id tacet.user_id)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  material jsonb;
begin
  execute format(
    'select %s($1, $2)', (select c.material from tacet.campaigns c where c.name = campaign_material.campaign)::regproc)
  into material
  using campaign_material.user_id, clock_timestamp();
  return material;
end
$$;

-- What became of a campaign's push, for explanations; null until it is recorded.
create or replace function tacet.campaign_push_outcome(push_id uuid, user_id tacet.user_id)
returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'logID', l.id, 'pushType', l.push_type, 'decision', l.decision, 'reason', l.reason, 'content', l.content,
    'opened', l.opened, 'sentAt', (extract(epoch from l.sent_at) * 1000000)::bigint)
  from tacet.push_log l
  where l.subject_id = tacet.subject_of(campaign_push_outcome.push_id) and l.user_id = campaign_push_outcome.user_id
  limit 1
$$;

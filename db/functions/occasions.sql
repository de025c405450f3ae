-- Occasions: what campaigns say on the days of users, from rendering to the push.
--
-- A plan that a session has made while the table was empty would join arrays to rows by reading all of them. So rows are looked up
-- one by one (limit 1 keeps it so) and then addressed by their place (ctid), once they are locked.

-- Writes rendered occasions of slots of a campaign. version: of the slot when the row was made; a row of a slot that has changed since is
-- not written. refusal: permission_denied where no device may show the row, else null. lead_us: of a batch, which has claimed the slots and
-- ends its claims: see tacet.advance_slots. It is null for the rows of a user's window, under no claim.
--
-- A row that is new, or whose words or time have changed, is scheduled anew, so devices arm it again. Rows that were pushed or
-- skipped stay, and nothing is written for a phase that was sent on that day from another slot. Where no device may show a row
-- it is skipped at once, and a window gets none. Returns the users whose rows have changed.
create or replace function tacet.prepare_occasions(campaign text, decided tacet.decided_occasion[], lead_us bigint)
returns setof tacet.user_id
language plpgsql volatile
as $$
#variable_conflict use_variable
declare
  current tacet.decided_occasion[];
  stale tacet.decided_occasion[];
begin
  if lead_us is not null then
    current := array(select decided[a.place] from tacet.advance_slots(campaign, decided, lead_us) as a (place));
  else
    perform tacet.lock_slots(u.user_id) from (select distinct r.user_id from unnest(decided) as r order by r.user_id) u;
    current := array(
      select r
      from unnest(decided) as r
      cross join lateral (
        select from tacet.slots s
        where s.user_id = r.user_id and s.campaign = campaign and s.slot = r.slot and s.version = r.version
        limit 1
      ) s);
  end if;

  delete from tacet.occasions d
  where d.ctid = any (array(
    select f.row_place
    from unnest(current) as r
    cross join lateral (
      select n.ctid as row_place
      from tacet.occasions n
      where n.user_id = r.user_id and n.campaign = campaign and n.slot = r.slot and n.fire_date = r.fire_date
        and n.status not in ('scheduled', 'armed') and tacet.occasion_after(tacet.occasion_state(n), 'rendered') is not null
      limit 1
      for update
    ) f
    where r.refusal is null or lead_us is not null));

  return query
  insert into tacet.occasions as d (
    fire_at, available_at, fire_date, user_id, campaign, slot, phase, time_zone, status, reason, title, body, category, data
  )
  select
    r.fire_at, r.fire_at, r.fire_date, r.user_id, campaign, r.slot, r.phase, r.time_zone,
    case when r.refusal is null then 'scheduled' else 'skipped' end, r.refusal, r.title, r.body, r.category, r.data
  from unnest(current) as r
  where r.refusal is null or lead_us is not null
  on conflict do nothing
  returning d.user_id;

  stale := array(
    select r::tacet.decided_occasion
    from (select r.* from unnest(current) as r order by r.user_id, r.fire_date, r.slot) r
    cross join lateral (
      select from tacet.occasions d
      where d.user_id = r.user_id and d.campaign = campaign and d.slot = r.slot and d.fire_date = r.fire_date
        and tacet.occasion_after(tacet.occasion_state(d), case when r.refusal is null then 'rendered' else 'denied' end) is not null
        and (d.fire_at, d.title, d.body, d.category, d.data::text, null)
          is distinct from (r.fire_at, r.title, r.body, r.category, r.data::text, r.refusal)
      limit 1
      for update
    ) d);
  return query
  update tacet.occasions d
  set
    fire_at = r.fire_at, available_at = r.fire_at, rendered_at = clock_timestamp(), changed_at = clock_timestamp(),
    time_zone = r.time_zone, title = r.title, body = r.body, category = r.category, data = r.data, armed_by = '{}',
    status = case when r.refusal is null then 'scheduled' else 'skipped' end, reason = r.refusal
  from unnest(stale) as r
  cross join lateral (
    select n.ctid as row_place
    from tacet.occasions n
    where n.user_id = r.user_id and n.campaign = campaign and n.slot = r.slot and n.fire_date = r.fire_date
    limit 1
  ) f
  where d.ctid = f.row_place
  returning d.user_id;
end
$$;

-- Ends the claims of slots: what follows the rows that were rendered is due next. Only slots change that are still under their claim,
-- are what they were then, and are not being changed. Returns their places in the array.
create or replace function tacet.advance_slots(campaign text, decided tacet.decided_occasion[], lead_us bigint)
returns setof bigint
language sql volatile
as $$
  with held as materialized (
    select
      r.ordinality as place, s.row_place, s.slot, s.time_zone, s.weekdays,
      greatest(s.next_fire_at, now() - interval '15 minutes') as after
    from unnest(decided) with ordinality as r
    cross join lateral (
      select x.ctid as row_place, x.slot, x.time_zone, x.weekdays, x.next_fire_at
      from tacet.slots x
      where x.user_id = r.user_id and x.campaign = advance_slots.campaign and x.slot = r.slot and x.version = r.version
        and x.attempts = r.attempts
      limit 1
      for update skip locked
    ) s
  ), fires as materialized (
    -- Of many slots that are due at the same time.
    select n.slot, n.time_zone, n.weekdays, n.after, f.fire_at, f.fire_date
    from (select distinct h.slot, h.time_zone, h.weekdays, h.after from held h) n
    left join lateral tacet.next_fire(n.slot, n.time_zone, n.after, n.weekdays) f on true
  )
  update tacet.slots s
  set
    next_fire_at = f.fire_at, fire_date = f.fire_date, available_at = f.fire_at - lead_us * interval '1 microsecond'
  from held h
  join fires f on f.slot = h.slot and f.time_zone = h.time_zone and f.weekdays = h.weekdays and f.after = h.after
  where s.ctid = h.row_place
  returning h.place
$$;

-- Queues pushes of occasions of a campaign; arrays have an element for each. push_ids: null for one that is not pushed. excluded: device
-- tokens that get no push. send_at, cancel_key: of a push that is put off, or sent at another time than its own. One of a slot may be
-- shown for 15 minutes from its time on, as long as it may be late.
--
-- How it is shown is what the campaign's presentation says, whose texts may name members of the data and fire_seconds, since 1970; and
-- for slots the category, the day's thread, and the identifier that devices know it by.
create or replace function tacet.queue_occasions(
  campaign text, decided tacet.decided_occasion[], push_ids uuid[], excluded text[], moment timestamptz,
  send_at timestamptz default null, cancel_key text default null
)
returns void
language plpgsql volatile
as $$
#variable_conflict use_variable
declare
  shown jsonb;
  group_name text;
begin
  select c.definition -> 'presentation', c.cap_group into shown, group_name from tacet.campaigns c where c.name = campaign;
  with pushed as (
    insert into tacet.pushes (
      created_at, id, user_id, kind, title, body, collapse_id, data, metadata, quiet_policy, presentation, send_at, cancel_key,
      expires_in, campaign, cap_group, excluded_devices
    )
    select
      moment, push_ids[r.ordinality], r.user_id, coalesce(r.push_type, campaign), r.title, r.body,
      case
        when r.slot <> '' then coalesce(p.shown ->> 'collapse_id', format('%s.%s.%s', campaign, r.slot, r.fire_date))
      end,
      r.data,
      coalesce(r.findings -> 'metadata', '{}') || case
        when r.slot = '' then jsonb_build_object('due_at', extract(epoch from r.fire_at))
        else jsonb_build_object('campaign', campaign, 'slot', r.slot, 'fire_date', r.fire_date)
      end,
      'drop',
      case
        when r.slot = '' then p.shown
        else jsonb_build_object('category', r.category, 'thread_id', format('%s.%s', campaign, r.fire_date))
          || p.shown - 'collapse_id'
      end,
      coalesce(send_at, case when r.slot <> '' then r.fire_at end), cancel_key,
      case when r.slot <> '' then interval '15 minutes' end, campaign, group_name, excluded[r.ordinality]
    from unnest(decided) with ordinality as r
    cross join lateral (
      select case
        when shown is null then '{}'
        else tacet.campaign_presentation(
          shown, r.data::jsonb || jsonb_build_object('fire_seconds', extract(epoch from r.fire_at)::bigint))
      end as shown
    ) p
    where push_ids[r.ordinality] is not null
    returning id, user_id, kind, pushes.send_at
  )
  insert into tacet.inbox (subject_id, kind, conversation_id, enqueued_at, available_at)
  select
    tacet.subject_of(p.id), p.kind, tacet.turn_of(p.user_id), least(coalesce(p.send_at, moment), moment),
    greatest(p.send_at, moment)
  from pushed p;
end
$$;

-- Queues one push of an occasion as it is stored; see tacet.queue_occasions. metadata: for the ledger, beside what is known here.
create or replace function tacet.queue_occasion(
  occasion tacet.occasions, push_id uuid, excluded text, send_at timestamptz, metadata jsonb default '{}',
  cancel_key text default null
)
returns void
language sql volatile
as $$
  select tacet.queue_occasions(
    occasion.campaign,
    array[
      row(
        occasion.user_id, occasion.slot, occasion.fire_date, occasion.fire_at, null, null, null, null, null, null, occasion.title,
        occasion.body, occasion.category, occasion.data, jsonb_build_object('metadata', metadata))::tacet.decided_occasion],
    array[push_id], array[excluded], clock_timestamp(), send_at, cancel_key)
$$;

-- Queues the pushes of claimed occasions, or ends them without one. refusal: why there is no push; null when nothing is known against it.
-- way: of slots push, local or auto. findings: of other campaigns layer, inputs, metadata for the ledger, and what a model has used. Only
-- occasions that are still under their claim change, and in the same transaction: each has one push. Waits for the disk, because a push
-- that was sent and lost could be sent again. Returns what was done with each, by its place in the array.
--
-- Everything is checked once more, under the lock of the user's row of tacet.frequency_caps for the campaign's group, so that of two
-- concurrent commits of a group the second sees the first. The occasions are locked by a statement of their own: one that waits for
-- another transaction would go on with its older view of the row, queue the push and not find the row to end.
create or replace function tacet.commit_occasions(campaign text, way text, decided tacet.decided_occasion[])
returns table (place bigint, status text, reason text, push_id uuid)
language plpgsql volatile
as $$
#variable_conflict use_variable
declare
  found_campaign tacet.campaigns;
  moment timestamptz := clock_timestamp();
  -- As they are now, in the order of those that are decided; null for one that is another's.
  held tacet.occasions[];
  open_users tacet.user_id[];
  outcomes text[];
  excluded text[];
  push_ids uuid[];
  noted bigint;
begin
  perform set_config('synchronous_commit', 'on', true);
  select c.* into found_campaign from tacet.campaigns c where c.name = campaign;
  select array_agg(d.occasion order by r.ordinality) into held
  from (select r.* from unnest(decided) with ordinality as r order by r.user_id, r.fire_date, r.slot) r
  left join lateral (
    select d as occasion
    from tacet.occasions d
    where d.user_id = r.user_id and d.campaign = campaign and d.slot = r.slot and d.fire_date = r.fire_date
      and d.attempts = r.attempts and tacet.occasion_after(tacet.occasion_state(d), 'pushed') is not null
      -- That of a slot has moved with it.
      and (d.fire_at = r.fire_at or not d.has_slot)
    limit 1
    for update
  ) d on true;
  if found_campaign.cap_group is not null then
    open_users := array(
      select distinct d.user_id
      from unnest(held) with ordinality as d
      where d.user_id is not null and (decided[d.ordinality]).refusal is null
      order by d.user_id);
    insert into tacet.frequency_caps (user_id, cap_group)
    select u.user_id, found_campaign.cap_group from unnest(open_users) as u (user_id)
    on conflict do nothing;
    perform from tacet.frequency_caps f
    where f.user_id = any (open_users) and f.cap_group = found_campaign.cap_group
    order by f.user_id
    for update;
  end if;

  -- What the campaign itself says against a push. Those of hours are asked about together.
  with due as materialized (
    select r.*, d.user_id is not null as is_held, d.phase as stored_phase, d.fire_at as due_at
    from unnest(decided) with ordinality as r
    join unnest(held) with ordinality as d using (ordinality)
  ), hours as (
    select
      array_agg(r.ordinality) as places, array_agg(r.user_id) as users, array_agg(r.due_at) as due_ats,
      array_agg(r.fire_date) as days, array_agg(r.push_type) as types
    from due r
    where r.is_held and r.slot = '' and r.refusal is null
  ), refused as (
    select h.places[f.place] as place, f.refusal
    from hours h
    cross join lateral tacet.campaign_refusals(campaign, h.users, h.due_ats, h.days, h.types) f
    where h.users is not null
  )
  select array_agg(
    case
      when not r.is_held then 'claim_lost'
      when r.slot <> '' and not exists (
        select from tacet.slot_of_day(campaign, r.user_id, r.slot, r.stored_phase, r.fire_date)
      ) then 'switched_off'
      else coalesce(r.refusal, f.refusal)
    end
    order by r.ordinality)
  into outcomes
  from due r
  left join refused f on f.place = r.ordinality;
  if array_position(outcomes, null) is not null or way <> 'push' then
    -- What the user, the devices and the rules say. Devices show what they have armed, whatever speaks against a push.
    select
      array_agg(
        case
          when r.outcome in ('claim_lost', 'switched_off') then r.outcome
          when g.refusal = 'armed' or way = 'local' and r.armed_by <> '{}' and g.refusal is null then 'armed'
          else coalesce(r.outcome, g.refusal, case when way = 'local' and r.slot <> '' then 'not_armed' end)
        end
        order by r.ordinality),
      array_agg(g.excluded order by r.ordinality)
    into outcomes, excluded
    from (
      select r.*, outcomes[r.ordinality] as outcome, case when way <> 'push' then d.armed_by else '{}' end as armed_by
      from unnest(decided) with ordinality as r
      join unnest(held) with ordinality as d using (ordinality)
    ) r
    left join lateral tacet.push_refusal(r.user_id, coalesce(r.push_type, campaign), r.armed_by, moment) g
      on r.outcome is null or r.armed_by <> '{}';
  end if;
  if found_campaign.cap_group is not null then
    outcomes := array(
      select coalesce(
        outcomes[r.ordinality],
        case when not tacet.take_cap(r.user_id, found_campaign.cap_group, r.fire_date) then 'pushed_today' end)
      from unnest(decided) with ordinality as r
      order by r.ordinality);
  end if;
  if found_campaign.on_push is not null then
    for noted in
      select r.ordinality from unnest(decided) with ordinality as r where r.slot = '' and outcomes[r.ordinality] is null
    loop
      begin
        execute format('select %s($1, $2)', found_campaign.on_push::regproc) using (decided[noted]).user_id, moment;
      exception
        when others then
          raise warning 'tacet: campaign % cannot note a push: % (%)', campaign, sqlerrm, sqlstate;
          outcomes[noted] := 'on_push_failed';
      end;
    end loop;
  end if;
  push_ids := array(
    select case when r.outcome is null then gen_random_uuid() end
    from unnest(outcomes) with ordinality as r (outcome, place)
    order by r.place);

  return query
  update tacet.occasions d
  set
    status = tacet.occasion_status(a.state), reason = nullif(r.outcome, 'armed'), push_id = r.push_id, changed_at = clock_timestamp(),
    -- Devices show the words that they know.
    title = case when r.outcome = 'armed' then d.title when d.has_slot then r.title end,
    body = case when r.outcome = 'armed' then d.body when d.has_slot then r.body end,
    category = case when r.outcome = 'armed' then d.category else r.category end,
    data = case when r.outcome = 'armed' then d.data when d.has_slot then r.data end,
    available_at = case when r.outcome = 'armed' then 'infinity' else d.available_at end,
    layer = r.findings ->> 'layer', inputs = coalesce(r.findings -> 'inputs', '{}'),
    input_tokens = d.input_tokens + coalesce((r.findings ->> 'input_tokens')::int, 0),
    output_tokens = d.output_tokens + coalesce((r.findings ->> 'output_tokens')::int, 0),
    cost_microdollars = d.cost_microdollars + coalesce((r.findings ->> 'cost_microdollars')::bigint, 0)
  from (
    select r.*, outcomes[r.ordinality] as outcome, push_ids[r.ordinality] as push_id from unnest(decided) with ordinality as r
  ) r
  cross join lateral (
    select n.ctid as row_place, tacet.occasion_state(n) as state
    from tacet.occasions n
    where n.user_id = r.user_id and n.campaign = campaign and n.slot = r.slot and n.fire_date = r.fire_date
    limit 1
  ) f
  cross join lateral (
    select
      tacet.occasion_after(
        f.state,
        case
          when r.outcome is null then 'pushed' when r.outcome = 'armed' then 'shown' when r.outcome = 'switched_off' then 'off'
          -- Something did not work which should have, instead of that something speaks against a push.
          when r.outcome in ('attempts_exhausted', 'campaign_unusable', 'material_failed', 'material_unreadable', 'on_push_failed')
            then 'failed'
          else 'refused'
        end) as state
    offset 0
  ) a
  where r.outcome is distinct from 'claim_lost' and d.ctid = f.row_place
  returning r.ordinality, d.status, d.reason, d.push_id;

  if array_position(outcomes, null) is not null then
    perform tacet.queue_occasions(campaign, decided, push_ids, excluded, moment);
  end if;
end
$$;

-- Sends the last rendered row of a user's slot at once, without a fetch. Returns the push, or why there is none: unknown_slot,
-- campaign_inactive, switched_off, not_in_audience, nothing_stored, cooldown within 60 seconds of the last time, or what keeps pushes
-- from the user's devices.
create or replace function tacet.deliver_slot(campaign text, user_id tacet.user_id, slot text)
returns table (refusal text, push_id uuid)
language plpgsql volatile
as $$
#variable_conflict use_variable
declare
  found_slot tacet.slots;
  stored tacet.occasions;
  excluded text;
begin
  perform set_config('synchronous_commit', 'on', true);
  perform tacet.lock_slots(user_id);
  select s.* into found_slot from tacet.slots s where s.user_id = user_id and s.campaign = campaign and s.slot = slot;
  -- The next one to come, else the last one.
  select d.* into stored
  from tacet.occasions d
  where d.user_id = user_id and d.campaign = campaign and d.slot = slot and d.title is not null and d.status <> 'cancelled'
  order by d.fire_at < clock_timestamp(), abs(extract(epoch from d.fire_at - clock_timestamp()))
  limit 1;
  refusal := case
    when found_slot.user_id is null then 'unknown_slot'
    when not exists (select from tacet.campaigns c where c.name = campaign and c.is_active) then 'campaign_inactive'
    when not (found_slot.is_on and found_slot.is_enabled) then 'switched_off'
    when found_slot.next_fire_at is null then 'not_in_audience'
    when stored.user_id is null then 'nothing_stored'
    when clock_timestamp() < found_slot.delivered_at + interval '60 seconds' then 'cooldown'
  end;
  if refusal is null then
    select g.refusal, g.excluded into refusal, excluded from tacet.push_refusal(user_id, campaign, '{}', clock_timestamp()) g;
  end if;
  if refusal is null then
    push_id := gen_random_uuid();
    update tacet.slots s
    set delivered_at = clock_timestamp()
    where s.user_id = user_id and s.campaign = campaign and s.slot = slot;
    perform tacet.queue_occasion(stored, push_id, excluded, clock_timestamp());
  end if;
  return next;
end
$$;

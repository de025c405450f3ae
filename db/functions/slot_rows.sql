-- Rows of tacet.notif_deliveries: what slots say on the days of users, from rendering to the push.
--
-- A plan that a session has made while the table was empty would join arrays to rows by reading all of them. So rows are looked up
-- one by one (limit 1 keeps it so) and then addressed by their place (ctid), once they are locked.

-- Writes rendered rows of a campaign; arrays have an element for each row. versions: of the slots when the rows were made; a row of a
-- slot that has changed since is not written. attempts, lead_us: of a batch, which has claimed the slots and ends its claims: see
-- tacet.advance_slots. lead_us is null for the rows of a user's window, under no claim.
--
-- A row that is new, or whose words or time have changed, is scheduled anew, so devices arm it again. Rows that were pushed or
-- skipped stay, and nothing is written for a phase that was sent on that day from another slot. Where no device may show a row
-- (the refusal permission_denied), it is skipped at once, and a window gets none. Returns the users whose rows have changed.
create or replace function tacet.write_slot_rows(
  campaign text, user_ids tacet.user_id[], slots text[], versions int[], attempts int[], phases text[], fire_dates date[],
  fire_ats timestamptz[], time_zones text[], refusals text[], titles text[], bodies text[], categories text[],
  documents text[], lead_us bigint
)
returns setof tacet.user_id
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  current bigint[];
  stale bigint[];
begin
  if lead_us is not null then
    current := array(
      select a.place from tacet.advance_slots(write_slot_rows.campaign, user_ids, slots, versions, attempts, lead_us) as a (place));
  else
    perform tacet.lock_slots(u.user_id) from (select distinct n.user_id from unnest(user_ids) as n (user_id) order by 1) u;
    current := array(
      select r.place
      from unnest(user_ids, slots, versions) with ordinality as r (user_id, slot, version, place)
      cross join lateral (
        select from tacet.slots s
        where s.user_id = r.user_id and s.campaign = write_slot_rows.campaign and s.slot = r.slot and s.version = r.version
        limit 1
      ) s);
  end if;

  delete from tacet.notif_deliveries d
  where d.ctid = any (array(
    select f.row_place
    from unnest(user_ids, slots, fire_dates, refusals) with ordinality as r (user_id, slot, fire_date, refusal, place)
    cross join lateral (
      select n.ctid as row_place
      from tacet.notif_deliveries n
      where n.user_id = r.user_id and n.campaign = write_slot_rows.campaign and n.slot = r.slot and n.fire_date = r.fire_date
        and (n.status = 'cancelled' or n.reason = 'permission_denied' and n.fire_at > clock_timestamp())
      limit 1
      for update
    ) f
    where r.place = any (current) and (r.refusal is distinct from 'permission_denied' or lead_us is not null)));

  return query
  insert into tacet.notif_deliveries as d (
    fire_at, available_at, fire_date, user_id, campaign, slot, phase, time_zone, status, reason, title, body, category, data
  )
  select
    r.fire_at, r.fire_at, r.fire_date, r.user_id, write_slot_rows.campaign, r.slot, r.phase, r.time_zone,
    case r.refusal when 'permission_denied' then 'skipped' else 'scheduled' end,
    case r.refusal when 'permission_denied' then r.refusal end, r.title, r.body, r.category, r.document::json
  from unnest(
    user_ids, slots, phases, fire_dates, fire_ats, time_zones, refusals, titles, bodies, categories, documents
  ) with ordinality as r (
    user_id, slot, phase, fire_date, fire_at, time_zone, refusal, title, body, category, document, place)
  where r.place = any (current) and (r.refusal is distinct from 'permission_denied' or lead_us is not null)
  on conflict do nothing
  returning d.user_id;

  stale := array(
    select r.place
    from (
      select r.*
      from unnest(user_ids, slots, fire_dates, fire_ats, refusals, titles, bodies, categories, documents)
        with ordinality as r (user_id, slot, fire_date, fire_at, refusal, title, body, category, document, place)
      where r.place = any (current)
      order by r.user_id, r.fire_date, r.slot
    ) r
    cross join lateral (
      select from tacet.notif_deliveries d
      where d.user_id = r.user_id and d.campaign = write_slot_rows.campaign and d.slot = r.slot
        and d.fire_date = r.fire_date and d.status in ('scheduled', 'armed')
        and (d.fire_at, d.title, d.body, d.category, d.data::text, null)
          is distinct from (
            r.fire_at, r.title, r.body, r.category, r.document, case r.refusal when 'permission_denied' then r.refusal end)
      limit 1
      for update
    ) d);
  return query
  update tacet.notif_deliveries d
  set
    fire_at = r.fire_at, available_at = r.fire_at, rendered_at = clock_timestamp(), changed_at = clock_timestamp(),
    time_zone = r.time_zone, title = r.title, body = r.body, category = r.category, data = r.document::json, armed_by = '{}',
    status = case r.refusal when 'permission_denied' then 'skipped' else 'scheduled' end,
    reason = case r.refusal when 'permission_denied' then r.refusal end
  from unnest(
    user_ids, slots, fire_dates, fire_ats, time_zones, refusals, titles, bodies, categories, documents
  ) with ordinality as r (
    user_id, slot, fire_date, fire_at, time_zone, refusal, title, body, category, document, place)
  cross join lateral (
    select n.ctid as row_place
    from tacet.notif_deliveries n
    where n.user_id = r.user_id and n.campaign = write_slot_rows.campaign and n.slot = r.slot and n.fire_date = r.fire_date
    limit 1
  ) f
  where r.place = any (stale) and d.ctid = f.row_place
  returning d.user_id;
end
$$;

-- Ends the claims of slots: what follows the rows that were rendered is due next. Only slots change that are still under their claim,
-- are what they were then, and are not being changed. Returns their places in the arrays.
create or replace function tacet.advance_slots(
  campaign text, user_ids tacet.user_id[], slots text[], versions int[], attempts int[], lead_us bigint
)
returns setof bigint
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  with held as materialized (
    select r.place, s.row_place, s.slot, s.time_zone, s.weekdays, greatest(s.next_fire_at, now() - interval '15 minutes') as after
    from unnest(
      advance_slots.user_ids, advance_slots.slots, advance_slots.versions, advance_slots.attempts
    ) with ordinality as r (user_id, slot, version, attempts, place)
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

-- Why no device of a user may get the push of a row; null when one may. excluded: the devices that show it already, or may show
-- nothing. What the pipeline's gate looks at is looked at here too, so that the row says it.
--
-- Has no settings of its own and no volatile part, so that it becomes a part of the statements that ask for many users.
create or replace function tacet.slot_refusal(
  campaign text, user_id tacet.user_id, armed_by text[], moment timestamptz
)
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
        tacet.shows_nothing(slot_refusal.user_id, d.address) as is_denied,
        lower(d.address) = any (slot_refusal.armed_by) as is_armed
      from tacet.push_targets(slot_refusal.user_id) d
    ) x
  ) t
  cross join lateral tacet.recipient_preferences(
    slot_refusal.user_id, slot_refusal.campaign, null, slot_refusal.moment
  ) p
$$;

-- What the push of a row has beside its words: the identifier that devices know it by, metadata for the ledger, and how it is shown.
-- What the campaign's presentation says comes first; its texts may name members of the row's data and fire_seconds, since 1970.
create or replace function tacet.slot_push_parts(
  campaign text, slot text, fire_date date, category text, fire_at timestamptz, document json, presentation jsonb
)
returns table (collapse_id text, metadata jsonb, presentation jsonb)
language sql stable rows 1
as $$
  select
    coalesce(w.shown ->> 'collapse_id', format('%s.%s.%s', campaign, slot, fire_date)),
    jsonb_build_object('campaign', campaign, 'slot', slot, 'fire_date', fire_date),
    jsonb_build_object('category', category, 'thread_id', format('%s.%s', campaign, fire_date)) || w.shown - 'collapse_id'
  from (
    select case
      when slot_push_parts.presentation is null then '{}'
      else tacet.campaign_presentation(
        slot_push_parts.presentation,
        document::jsonb || jsonb_build_object('fire_seconds', extract(epoch from slot_push_parts.fire_at)::bigint))
    end as shown
  ) w
$$;

-- Queues the pushes of claimed rows, or ends the rows without one; arrays have an element for each row. refusals: why there is no
-- push; null when nothing is known against it. way: push, local or auto. Only rows that are still under their claim change, and in
-- the same transaction: a row has one push. Waits for the disk. Returns what was done with each row, by the place in the arrays.
--
-- The rows are locked by a statement of their own. One that waits for another transaction would go on with its older view of the
-- row, queue the push and not find the row to end.
create or replace function tacet.commit_slot_rows(
  campaign text, way text, user_ids tacet.user_id[], slots text[], fire_dates date[], fire_ats timestamptz[], attempts int[],
  refusals text[], titles text[], bodies text[], categories text[],
  documents text[]
)
returns table (place bigint, status text, reason text)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  found_group text;
  shown jsonb;
  moment timestamptz := clock_timestamp();
  locked bigint[];
begin
  perform set_config('synchronous_commit', 'on', true);
  select c.cap_group, c.definition -> 'presentation' into found_group, shown
  from tacet.campaigns c
  where c.name = commit_slot_rows.campaign;
  locked := array(
    select r.place
    from (
      select r.*
      from unnest(user_ids, slots, fire_dates, fire_ats, attempts)
        with ordinality as r (user_id, slot, fire_date, fire_at, attempts, place)
      order by r.user_id, r.fire_date, r.slot
    ) r
    cross join lateral (
      select from tacet.notif_deliveries d
      where d.user_id = r.user_id and d.campaign = commit_slot_rows.campaign and d.slot = r.slot
        and d.fire_date = r.fire_date and d.status in ('scheduled', 'armed') and d.attempts = r.attempts
        and d.fire_at = r.fire_at
      limit 1
      for update
    ) d);
  return query
  with owned as materialized (
    select
      r.place, d.row_place, r.user_id, r.slot, r.fire_date, d.fire_at, d.armed_by,
      case
        when tacet.has_slot(commit_slot_rows.campaign, r.user_id, r.slot, d.phase, r.fire_date) then r.refusal
        else 'switched_off'
      end as refusal, r.title, r.body, r.category,
      r.document, gen_random_uuid() as push_id
    from (
      select r.*
      from unnest(
        user_ids, slots, fire_dates, refusals, titles, bodies, categories, documents
      ) with ordinality as r (user_id, slot, fire_date, refusal, title, body, category, document, place)
      where r.place = any (locked)
      order by r.user_id, r.fire_date, r.slot
    ) r
    cross join lateral (
      select d.ctid as row_place, d.fire_at, d.armed_by, d.phase
      from tacet.notif_deliveries d
      where d.user_id = r.user_id and d.campaign = commit_slot_rows.campaign and d.slot = r.slot
        and d.fire_date = r.fire_date
      limit 1
    ) d
  ), looked as materialized (
    select
      o.*,
      coalesce(
        o.refusal, g.refusal,
        case when way = 'local' then case when o.armed_by = '{}' then 'not_armed' else 'armed' end end) as held_by,
      g.excluded
    from owned o
    left join lateral tacet.slot_refusal(
      commit_slot_rows.campaign, o.user_id, case when way = 'push' then '{}' else o.armed_by end, moment
    ) g on o.refusal is null
  ), judged as materialized (
    select
      l.*,
      coalesce(
        l.held_by,
        case when found_group is not null and not tacet.take_cap(l.user_id, found_group) then 'pushed_today' end
      ) as outcome
    from looked l
  ), pushed as (
    insert into tacet.pushes (
      created_at, id, user_id, kind, title, body, collapse_id, data, metadata, quiet_policy, presentation, send_at,
      campaign, cap_group, excluded_devices
    )
    select
      clock_timestamp(), j.push_id, j.user_id, commit_slot_rows.campaign, j.title, j.body,
      p.collapse_id, j.document::json, p.metadata, 'drop', p.presentation, j.fire_at, commit_slot_rows.campaign,
      found_group, j.excluded
    from judged j
    cross join lateral tacet.slot_push_parts(
      commit_slot_rows.campaign, j.slot, j.fire_date, j.category, j.fire_at, j.document::json, shown
    ) p
    where j.outcome is null
    returning id, user_id, kind, send_at
  ), queued as (
    insert into tacet.inbox (subject_id, kind, conversation_id, enqueued_at)
    select tacet.subject_of(p.id), p.kind, tacet.turn_of(p.user_id), p.send_at from pushed p
  ), noted as (
    update tacet.notif_deliveries d
    set
      status = case
        when j.outcome is null then 'sent' when j.outcome = 'armed' then 'armed' when j.outcome = 'switched_off' then 'cancelled'
        else 'skipped'
      end,
      reason = nullif(j.outcome, 'armed'), push_id = case when j.outcome is null then j.push_id end,
      title = j.title, body = j.body, category = j.category, data = j.document::json, changed_at = clock_timestamp(),
      available_at = case when j.outcome = 'armed' then 'infinity' else d.available_at end
    from judged j
    where d.ctid = j.row_place
    returning j.place, d.status, d.reason
  )
  select n.place, n.status, n.reason from noted n;
end
$$;

-- Sends the last rendered row of a user's slot at once, without a fetch. Returns the push, or why there is none: unknown_slot,
-- switched_off, nothing_stored, cooldown within 60 seconds of the last time, or what keeps pushes from the user's devices.
create or replace function tacet.deliver_slot(campaign text, user_id tacet.user_id, slot text)
returns table (refusal text, push_id uuid)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  found_slot tacet.slots;
  stored tacet.notif_deliveries;
  excluded text;
begin
  perform set_config('synchronous_commit', 'on', true);
  perform tacet.lock_slots(deliver_slot.user_id);
  select s.* into found_slot
  from tacet.slots s
  where s.user_id = deliver_slot.user_id and s.campaign = deliver_slot.campaign and s.slot = deliver_slot.slot;
  if not found then
    refusal := 'unknown_slot';
  elsif not (found_slot.is_on and found_slot.is_enabled) then
    refusal := 'switched_off';
  else
    -- The next one to come, else the last one.
    select d.* into stored
    from tacet.notif_deliveries d
    where d.user_id = deliver_slot.user_id and d.campaign = deliver_slot.campaign and d.slot = deliver_slot.slot
      and d.title is not null and d.status <> 'cancelled'
    order by d.fire_at < clock_timestamp(), abs(extract(epoch from d.fire_at - clock_timestamp()))
    limit 1;
    if not found then
      refusal := 'nothing_stored';
    elsif clock_timestamp() < found_slot.delivered_at + interval '60 seconds' then
      refusal := 'cooldown';
    else
      select g.refusal, g.excluded into refusal, excluded
      from tacet.slot_refusal(deliver_slot.campaign, deliver_slot.user_id, '{}', clock_timestamp()) g;
    end if;
  end if;
  if refusal is not null then
    return next;
    return;
  end if;
  push_id := gen_random_uuid();
  update tacet.slots s
  set delivered_at = clock_timestamp()
  where s.user_id = deliver_slot.user_id and s.campaign = deliver_slot.campaign and s.slot = deliver_slot.slot;
  insert into tacet.pushes (
    id, user_id, kind, title, body, collapse_id, data, metadata, quiet_policy, presentation, campaign, excluded_devices
  )
  select
    deliver_slot.push_id, deliver_slot.user_id, deliver_slot.campaign, stored.title, stored.body, p.collapse_id,
    stored.data, p.metadata, 'drop', p.presentation, deliver_slot.campaign, excluded
  from tacet.slot_push_parts(
    deliver_slot.campaign, stored.slot, stored.fire_date, stored.category, stored.fire_at, stored.data,
    (select c.definition -> 'presentation' from tacet.campaigns c where c.name = deliver_slot.campaign)
  ) p;
  insert into tacet.inbox (subject_id, kind, conversation_id, enqueued_at)
  values (
    tacet.subject_of(deliver_slot.push_id), deliver_slot.campaign, tacet.turn_of(deliver_slot.user_id), clock_timestamp()
  );
  return next;
end
$$;

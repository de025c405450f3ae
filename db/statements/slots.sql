-- Slots of users: chosen, enrolled, advanced.

-- name: choose_slots(campaign text, user_id tacet.user_id, is_on boolean, chosen text, time_zone text, lead_us bigint)
-- Replaces a user's slots; see tacet.choose_slots.

select tacet.choose_slots(:campaign, :user_id, :is_on, :chosen::jsonb, :time_zone, :lead_us);

-- name: slots_of_user(campaign text, user_id tacet.user_id)
-- Returns a user's slots in a campaign, by their time.

select s.slot, s.phase, s.is_on, s.is_enabled, s.weekdays::int4[], s.time_zone
from tacet.slots s
where s.user_id = :user_id and s.campaign = :campaign
order by s.slot;

-- name: slot_window(user_id tacet.user_id, only_stored boolean, lead_us bigint)
-- Returns what a user's slots are due to say: today's remaining and those of the next six days, the soonest first. What is due within
-- the lead has its words so far: a language model may have written them.
--
-- only_stored: whether only rows are returned that are stored and not pushed, or that no device was allowed to show.

select
  s.campaign, s.user_id, s.slot, s.phase, d.fire_date::text, (extract(epoch from d.fire_at) * 1000000)::bigint as fire_us,
  s.time_zone, s.version, s.attempts, false as is_late, w.title, w.body, w.category, w.data::text
from tacet.slots s
cross join lateral tacet.slot_days(
  s.slot, s.time_zone, (clock_timestamp() at time zone s.time_zone)::date, 7, s.weekdays
) d
left join lateral (
  select r.status, r.reason, r.title, r.body, r.category, r.data
  from tacet.occasions r
  where r.user_id = s.user_id and r.campaign = s.campaign and r.slot = s.slot and r.fire_date = d.fire_date
  limit 1
) r on true
left join lateral (
  select r.title, r.body, r.category, r.data
  where r.status in ('scheduled', 'armed') and d.fire_at - :lead_us * interval '1 microsecond' <= clock_timestamp()
) w on true
where s.user_id = :user_id and s.is_on and s.is_enabled and d.fire_at > clock_timestamp()
  and (not :only_stored or r.status in ('scheduled', 'armed') or r.reason = 'permission_denied')
order by d.fire_at;

-- name: schedule(user_id tacet.user_id, days integer, rows_max bigint, device_token text)
-- Returns the rows that a device is to show, the soonest first: of active campaigns that the user has not disabled.
--
-- device_token: null when unknown.

select
  d.campaign, d.slot, d.fire_date::text, (extract(epoch from d.fire_at) * 1000000)::bigint as fire_us,
  to_char(d.fire_at at time zone d.time_zone, 'YYYY-MM-DD"T"HH24:MI:SS') as local_time,
  (extract(epoch from d.rendered_at) * 1000000)::bigint as rendered_us, d.title, d.body, d.category,
  d.data::text, coalesce(p.tolerance_seconds, 0) as tolerance_seconds
from tacet.occasions d
left join tacet.device_permissions p on p.device_token = lower(:device_token) and p.user_id = d.user_id
where d.user_id = :user_id and d.status in ('scheduled', 'armed') and d.title is not null
  and d.fire_at > clock_timestamp() and p.is_denied is not true
  and d.campaign = any (array(
    select c.name
    from tacet.campaigns c
    cross join lateral tacet.recipient_preferences(:user_id, c.name, null, clock_timestamp()) w
    where c.is_active and not w.is_opted_out))
  and d.fire_date < (clock_timestamp() at time zone d.time_zone)::date + :days
order by d.fire_at, d.campaign, d.slot
limit :rows_max;

-- name: is_schedule_rendered(user_id tacet.user_id, pause_us bigint)
-- Returns whether a user's schedule was rendered within some time.

select exists (
  select from tacet.schedules s
  where s.user_id = :user_id and s.run_at >= clock_timestamp() - :pause_us * interval '1 microsecond'
);

-- name: note_schedule_rendered(user_id tacet.user_id)
-- Notes that a user's schedule was rendered. Not before it is: another device that asks meanwhile would get less.

insert into tacet.schedules (run_at, user_id)
values (clock_timestamp(), :user_id)
on conflict (user_id) do update
set run_at = excluded.run_at;

-- name: enrol_slots(
--   campaign text, default_slots text, are_new boolean, after_user_id tacet.user_id, users_max bigint, lead_us bigint)
-- Follows a campaign's audience for a page of users; see tacet.enrol_slots.

select e.enrolled, e.moved, e.last_user
from tacet.enrol_slots(:campaign, :default_slots::jsonb, :are_new, :after_user_id, :users_max, :lead_us) e;

-- name: follow_audience(campaign text, default_slots text, user_id tacet.user_id, lead_us bigint)
-- Follows a campaign's audience for one user; see tacet.follow_audience.

select e.enrolled, e.moved from tacet.follow_audience(:campaign, :default_slots::jsonb, array[:user_id], :lead_us) e;

-- name: next_slot
-- Returns the microseconds until a slot may be rendered; null when none is to come.

select (extract(epoch from min(s.available_at) - clock_timestamp()) * 1000000)::bigint as wait from tacet.slots s;

-- name: claim_slots(slots_max bigint, lease_us bigint)
-- Leases slots whose next row may be rendered, those that have waited longest first.

with picked as materialized (
  select s.ctid as place
  from tacet.slots s
  where s.available_at <= now()
  order by s.available_at
  limit :slots_max
  for update skip locked
)
update tacet.slots s
set available_at = now() + :lease_us * interval '1 microsecond', attempts = s.attempts + 1
where s.ctid = any (array(select p.place from picked p))
returning
  s.campaign, s.user_id, s.slot, s.phase, s.fire_date::text, (extract(epoch from s.next_fire_at) * 1000000)::bigint as fire_us,
  s.time_zone, s.version, s.attempts, false as is_late;

-- name: advance_slots(
--   campaign text, user_ids tacet.user_id[], slots text[], versions integer[], attempts integer[], lead_us bigint)
-- Ends the claims of slots of which nothing is rendered; see tacet.advance_slots. Where that is because their campaign is off, devices
-- are told that they have armed what does not come.

with told as materialized (
  select case when tacet.settle_occasions(:campaign, u.user_id, 'campaign_inactive') > 0 then tacet.tell_devices(u.user_id) end
  from (select distinct n.user_id from unnest(:user_ids) as n (user_id)) u
  where not exists (select from tacet.campaigns c where c.name = :campaign and c.is_active)
)
select a.place
from tacet.advance_slots(
  :campaign,
  array(
    select json_populate_record(null::tacet.decided_occasion, row_to_json(r))
    from unnest(:user_ids, :slots, :versions, :attempts) as r (user_id, slot, version, attempts)),
  :lead_us) as a (place)
cross join (select count(*) from told) t;

-- name: deliver_slot(campaign text, user_id tacet.user_id, slot text)
-- Sends a user's last rendered row of a slot; see tacet.deliver_slot.

select d.refusal, d.push_id from tacet.deliver_slot(:campaign, :user_id, :slot) d;

-- name: report_slot_action(user_id tacet.user_id, event_id uuid, action text, identifier text, happened_us bigint)
-- Notes an action of a user; see tacet.report_slot_action.

select a.outcome, a.answer::text
from tacet.report_slot_action(
  :user_id, :event_id, :action, :identifier, timestamptz 'epoch' + :happened_us * interval '1 microsecond') a;

-- name: report_slot_events(
--   user_id tacet.user_id, ids uuid[], codes text[], identifiers text[], device_tokens text[], circumstances text[], happened_us bigint[])
-- Notes events that an app reports, and returns the places of those that were not known before; see tacet.report_slot_events.
--
-- identifiers: of the occasions they are about; null for none. device_tokens: null when unknown. happened_us: since 1970.

select r.place
from tacet.report_slot_events(
  :user_id, :ids, :codes, :identifiers, :device_tokens, :circumstances,
  array(
    select timestamptz 'epoch' + h.us * interval '1 microsecond'
    from unnest(:happened_us) with ordinality as h (us, place)
    order by h.place)) as r (place);

-- Occasions: their preparation, their claims, their ends; and the contents of slots.

-- name: prepare_occasions(
--   campaign text, user_ids tacet.user_id[], slots text[], versions integer[], attempts integer[], phases text[],
--   fire_dates text[], fire_us bigint[], time_zones text[], refusals text[], titles text[], bodies text[], categories text[],
--   documents text[], lead_us bigint, tells boolean)
-- Writes rendered occasions of slots, and returns the users whose rows have changed; see tacet.prepare_occasions. Arrays have an element for each
-- row.

select
  w.user_id,
  case when :tells and exists (select from tacet.schedules s where s.user_id = w.user_id and s.run_at is not null)
    then tacet.tell_devices(w.user_id)
  end
from (
  select distinct p.user_id
  from tacet.prepare_occasions(
    :campaign,
    array(
      select
        row(
          r.user_id, r.slot, r.fire_date, timestamptz 'epoch' + r.fire_us * interval '1 microsecond', r.version, r.attempts, r.phase,
          r.time_zone, case r.refusal when 'permission_denied' then r.refusal end, null, r.title, r.body, r.category, r.document,
          null)::tacet.decided_occasion
      from unnest(
        :user_ids, :slots, :versions, :attempts, :phases, :fire_dates::date[], :fire_us, :time_zones, :refusals, :titles, :bodies,
        :categories, :documents::json[]
      ) as r (
        user_id, slot, version, attempts, phase, fire_date, fire_us, time_zone, refusal, title, body, category, document)),
    :lead_us) as p (user_id)
  order by p.user_id
  offset 0
) w;

-- part: of_group
  where d.has_slot = :have_slots and d.status in ('scheduled', 'armed') and d.available_at < 'infinity'
    and (:are_written is null or (d.campaign in (select c.name from tacet.campaigns c where c.definition ? 'composer')) = :are_written)

-- name: due_occasions(have_slots boolean, are_written boolean, count_max bigint)
-- Returns how many occasions are due.
--
-- have_slots: whether they are of slots, else of campaigns that come at an hour. are_written: whether a language model writes for
-- their campaigns; null for either. count_max: counted at most.

select count(*)
from (
  select from tacet.occasions d
-- include: of_group
    and d.available_at <= now()
  limit :count_max
) n;

-- name: next_occasion(have_slots boolean, are_written boolean)
-- Returns the microseconds until an occasion is due; null when none is to come.

select (extract(epoch from (
  select d.available_at
  from tacet.occasions d
-- include: of_group
  order by d.available_at
  limit 1
) - clock_timestamp()) * 1000000)::bigint as wait;

-- name: claim_occasions(
--   have_slots boolean, are_written boolean, rows_max bigint, waiting_max bigint, lease_us bigint, grace_us bigint)
-- Leases occasions that are due, those that have waited longest first. One is late after the grace, and when a later one of the
-- campaign is due for the same user, or was pushed or shown; of two at the same time, where the clock skips one's, that of the later slot.
-- Words are those so far: a language model may have written them.
--
-- Occasions fill the inbox no further than its readers empty it: a long inbox would make each look for messages longer.
--
-- waiting_max: events that wait in the inbox at most, these occasions included. grace_us: how long after its time an occasion may be
-- pushed.

with picked as materialized (
  select d.ctid as place
  from tacet.occasions d
-- include: of_group
    and d.available_at <= now()
  order by d.available_at
  limit least(:rows_max, greatest(:waiting_max - (
    select count(*)
    from (select from tacet.inbox i where not i.is_claimed and i.available_at <= now() limit :waiting_max) w
  ), 0))
  for update skip locked
)
update tacet.occasions d
set available_at = now() + :lease_us * interval '1 microsecond', attempts = d.attempts + 1
where d.ctid = any (array(select p.place from picked p))
returning
  d.campaign, d.user_id, d.slot, d.phase, d.fire_date::text, (extract(epoch from d.fire_at) * 1000000)::bigint as fire_us,
  d.time_zone, 0 as version, d.attempts,
  d.fire_at + :grace_us * interval '1 microsecond' < now() or exists (
    select from tacet.occasions l
    where l.user_id = d.user_id and l.campaign = d.campaign and l.status in ('scheduled', 'armed', 'sent', 'delivered', 'opened')
      and l.fire_at > d.fire_at and l.fire_at <= now()
  ) as is_late,
  d.title, d.body, d.category, d.data::text;

-- name: release_occasions(campaigns text[], user_ids tacet.user_id[], slots text[], fire_dates text[], attempts integer[])
-- Gives leases back before they run out. An occasion that was claimed again meanwhile stays leased.

update tacet.occasions d
set available_at = clock_timestamp(), attempts = d.attempts - 1
from unnest(:campaigns, :user_ids, :slots, :fire_dates, :attempts) as r (campaign, user_id, slot, fire_date, attempts)
where d.user_id = r.user_id and d.campaign = r.campaign and d.slot = r.slot and d.fire_date = r.fire_date::date
  and d.attempts = r.attempts and d.status in ('scheduled', 'armed');

-- name: campaign_situations(campaign text, user_ids tacet.user_id[], due_us bigint, local_day text)
-- Returns what a campaign knows of users, and the clock; see tacet.campaign_situations.

select
  s.user_id, s.time_zone, s.refusal, s.material::text, (extract(epoch from clock_timestamp()) * 1000000)::bigint as now_us
from tacet.campaign_situations(
  :campaign, :user_ids, timestamptz 'epoch' + :due_us * interval '1 microsecond', :local_day::date) s;

-- name: commit_occasions(
--   campaign text, way text, user_ids tacet.user_id[], slots text[], fire_dates text[], fire_us bigint[], attempts integer[],
--   refusals text[], push_types text[], titles text[], bodies text[], categories text[], documents text[], findings text[])
-- Queues the pushes of claimed occasions, or ends them; see tacet.commit_occasions.

select c.place, c.status, c.reason, c.push_id
from tacet.commit_occasions(
  :campaign, :way,
  array(
    select
      row(
        r.user_id, r.slot, r.fire_date, timestamptz 'epoch' + r.fire_us * interval '1 microsecond', null, r.attempts, null, null,
        r.refusal, r.push_type, r.title, r.body, r.category, r.document, r.finding)::tacet.decided_occasion
    from unnest(
      :user_ids, :slots, :fire_dates::date[], :fire_us, :attempts, :refusals, :push_types, :titles, :bodies, :categories,
      :documents::json[], :findings::jsonb[]
    ) with ordinality as r (
      user_id, slot, fire_date, fire_us, attempts, refusal, push_type, title, body, category, document, finding, place)
    order by r.place)) c;

-- name: contents(campaign text, slots text[], user_ids tacet.user_id[], time_zones text[], fire_us bigint[])
-- Returns by the place in the arrays whether the stored document is too old for a row, and stored documents, each once. The life of one
-- counts from the slot that it was fetched for, on the clock of the zone, so that it serves the same slot a day later, also on a day of
-- 25 hours.
--
-- user_ids: null for a document of all users. fire_us: when they are due, since 1970.

select
  r.place,
  least(timestamptz 'epoch' + r.fire_us * interval '1 microsecond', clock_timestamp()) at time zone r.time_zone
    > greatest(c.fetched_at at time zone r.time_zone, c.content_date + tacet.slot_time(c.slot)) + (c.fresh_until - c.fetched_at)
    as is_stale,
  case when r.nth = 1 then c.document::text end as document
from (
  select n.*, row_number() over (partition by n.slot, n.user_id order by n.place) as nth
  from unnest(:slots, :user_ids, :time_zones, :fire_us) with ordinality as n (slot, user_id, time_zone, fire_us, place)
) r
cross join lateral (
  select k.*
  from tacet.notif_contents k
  where k.campaign = :campaign and k.slot = r.slot and k.owner = coalesce('u' || r.user_id::text, '') and k.document is not null
  limit 1
) c;

-- name: claim_contents(
--   campaign text, url text, slots text[], user_ids tacet.user_id[], fire_dates text[], fire_us bigint[], lead_us bigint,
--   lease_us bigint, contents_max bigint)
-- Claims fetches of documents: those whose slot is due within the lead, and for whose day or a later one there was no attempt that
-- ended. An attempt has ended when its answer is noted. One process gets each, and when it does not note an answer within the lease,
-- because it has died, another one does. The arrays have an element for each row of a slot. Returns what to fetch.
--
-- url: the campaign's URL. user_ids: null for a document of all users. fire_us: when the slots are due, since 1970. lease_us: how
-- long an attempt may take. contents_max: documents at most.

with due as (
  select r.slot, r.user_id, max(r.fire_date::date) as fire_date
  from unnest(:slots, :user_ids, :fire_dates, :fire_us) as r (slot, user_id, fire_date, fire_us)
  cross join lateral (select timestamptz 'epoch' + r.fire_us * interval '1 microsecond' as fire_at) f
  where f.fire_at >= clock_timestamp() and f.fire_at - :lead_us * interval '1 microsecond' <= clock_timestamp()
  group by r.slot, r.user_id
), picked as (
  select d.*
  from due d
  where (
    select tacet.is_attempted(c, d.fire_date, :lease_us)
    from tacet.notif_contents c
    where c.campaign = :campaign and c.slot = d.slot and c.owner = coalesce('u' || d.user_id::text, '')
  ) is not true
  order by d.slot, d.user_id
  limit :contents_max
)
insert into tacet.notif_contents as c (campaign, slot, user_id, fire_date)
select :campaign, p.slot, p.user_id, p.fire_date from picked p
on conflict (campaign, slot, owner) do update
set fire_date = excluded.fire_date, attempted_at = excluded.attempted_at, failure_code = null
where not tacet.is_attempted(c, excluded.fire_date, :lease_us)
returning
  c.slot, c.user_id, c.fire_date::text, case when c.document is not null and c.url = :url then c.etag end as etag;

-- name: store_content(
--   campaign text, slot text, user_id tacet.user_id, fire_date text, url text, etag text, document text, ttl_us bigint)
-- Stores a document that was fetched, or notes that it has not changed on its host, unless a later attempt has begun.
--
-- user_id: null for a document of all users. fire_date: the day of the attempt. url: the campaign's URL. etag: the document's
-- version; null when the host names none. document: the document, as JSON; null when it has not changed. ttl_us: how long it may be used.

update tacet.notif_contents c
set
  fetched_at = now(), fresh_until = now() + :ttl_us * interval '1 microsecond', content_date = c.fire_date, failure_code = null,
  url = :url, etag = case when :document::text is null then c.etag else :etag end, document = coalesce(:document::jsonb, c.document)
where c.campaign = :campaign and c.slot = :slot
  and c.owner = coalesce('u' || :user_id::text, '') and c.fire_date = :fire_date::date;

-- name: fail_content(campaign text, slot text, user_id tacet.user_id, fire_date text, code text)
-- Notes that a fetch has failed. The stored document stays.
--
-- user_id: null for a document of all users. fire_date: the day of the attempt.

update tacet.notif_contents c
set failure_code = :code
where c.campaign = :campaign and c.slot = :slot
  and c.owner = coalesce('u' || :user_id::text, '') and c.fire_date = :fire_date::date;

-- name: config_flags
-- Returns the flags of slot campaigns that differ from their defaults, as a JSON object.

select coalesce(jsonb_object_agg(f.name, f.value), '{}')::text as flags from tacet.notif_config f;

-- Preferences, presence and what users have opened.

-- name: preferences(user_id tacet.user_id)
-- Returns a user's preferences in one row; nulls and empty arrays for a user without any.

select
  (extract(epoch from p.quiet_start) / 60)::int4 as quiet_start,
  (extract(epoch from p.quiet_end) / 60)::int4 as quiet_end,
  p.quiet_zone, p.quiet_policy, p.content, coalesce(p.disabled_kinds, '{}') as disabled_kinds,
  c.ids, c.muted, c.muted_until, c.mentions_only, u.unread_kinds, u.unread_seconds
from (values (1)) as one
left join tacet.preferences p on p.user_id = :user_id
cross join lateral (
  select
    coalesce(array_agg(x.conversation_id order by x.conversation_id), '{}') as ids,
    coalesce(array_agg(x.is_muted order by x.conversation_id), '{}') as muted,
    coalesce(
      array_agg((extract(epoch from x.muted_until) * 1000000)::bigint order by x.conversation_id), '{}'
    ) as muted_until,
    coalesce(array_agg(x.mentions_only order by x.conversation_id), '{}') as mentions_only
  from tacet.conversation_preferences x
  where x.user_id = :user_id
) c
cross join lateral (
  select
    coalesce(array_agg(x.kind order by x.kind), '{}') as unread_kinds,
    coalesce(array_agg(extract(epoch from x.after)::bigint order by x.kind), '{}') as unread_seconds
  from tacet.unread_preferences x
  where x.user_id = :user_id
) u;

-- name: put_preferences(
--   user_id tacet.user_id, quiet_start integer, quiet_end integer, quiet_zone text, quiet_policy text, disabled_kinds text[],
--   conversation_ids tacet.conversation_id[], muted boolean[], muted_until_us bigint[], mentions_only boolean[], content text,
--   unread_kinds text[], unread_seconds bigint[])
-- Replaces a user's preferences, unless the time zone is unknown. Returns whether it did. Devices that have asked for a schedule are told of
-- kinds that are disabled or enabled, because it has none of their rows, or has them again.
--
-- quiet_start: when quiet hours begin, minutes after midnight; null for none. quiet_end: when quiet hours end, minutes after
-- midnight; null for none. quiet_zone: the time zone of quiet hours; null for none. quiet_policy: what happens in quiet hours; null
-- for none. disabled_kinds: kinds that are not pushed. conversation_ids: conversations, one element for each. muted: whether it is
-- muted. muted_until_us: until when it is muted; null for always. mentions_only: whether only mentions are pushed.
-- content: what pushes may say; null for no choice. unread_kinds: kinds with a wish for push.unread, one element for each.
-- unread_seconds: after how long; null for never.

with durable as materialized (select set_config('synchronous_commit', 'on', true)), put as materialized (
  select
    tacet.put_preferences(
      :user_id, time '00:00' + :quiet_start * interval '1 minute', time '00:00' + :quiet_end * interval '1 minute',
      zone.known, :quiet_policy, :disabled_kinds, :conversation_ids, :muted,
      array(
        select timestamptz 'epoch' + u.us * interval '1 microsecond'
        from unnest(:muted_until_us) with ordinality as u (us, place)
        order by u.place),
      :mentions_only, :content, :unread_kinds, :unread_seconds),
    case when exists (select from tacet.schedules s where s.user_id = :user_id and s.run_at is not null)
      and coalesce((select p.disabled_kinds from tacet.preferences p where p.user_id = :user_id), '{}') <> :disabled_kinds
      then tacet.tell_devices(:user_id)
    end
  from durable
  cross join (select tacet.known_zone(:quiet_zone) as known offset 0) zone
  where :quiet_zone::text is null or zone.known is not null
)
select count(*) = 1 from put;

-- name: hides_writes(function text, table_name text, conversation_id tacet.conversation_id)
-- Returns whether row-level security hides from a function of the host contract the rows that it should write.
--
-- table_name: the table that it writes by default.

select tacet.hides_writes(:function, :table_name, :conversation_id);

-- name: read_conversation(
--   conversation_id tacet.conversation_id, user_id tacet.user_id, message_id tacet.message_id, device_token text,
--   is_synced boolean)
-- Marks a batch of messages as read, and queues what tells the user's other devices.
--
-- message_id: null for all. device_token: the device that has read; null when unknown. is_synced: whether other devices are told.
--
-- Returns one row: whether the user takes part, whether the message is known, messages marked, unread messages, and
-- microseconds until others are told. It waits for the disk, whatever the session does otherwise.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select r.takes_part, r.knows_message, r.read_count, r.badge, r.sync_wait
from durable
cross join lateral tacet.read_conversation(:conversation_id, :user_id, :message_id, :device_token, :is_synced) r;

-- name: note_activity(user_ids tacet.user_id[])
-- Notes that users were active now. Returns how many were written; see tacet.note_active_users.

select tacet.note_active_users(:user_ids, clock_timestamp());

-- name: record_views(
--   kinds text[], surface_ids tacet.conversation_id[], user_ids tacet.user_id[], have_looked boolean[], have_left boolean[])
-- Stores who looks at what and who has left, and returns what each user is to the surface.
--
-- kinds: kinds of the surfaces, one element for each surface and user. have_looked: whether the user has looked. have_left: whether
-- the user has left.
--
-- No surface and user may appear twice. Returns a row for each: kind, id, user, whether the user takes part (null for
-- an unknown surface), and whether nothing was written because another session has locked the row.

with reported as materialized (
  select r.* from unnest(:kinds, :surface_ids, :user_ids, :have_looked, :have_left)
    as r (kind, id, user_id, has_looked, has_left)
)
select 'conversation' as kind, v.conversation_id as id, v.user_id, v.is_participant as takes_part, v.is_skipped
from (
  select
    array_agg(r.id) as ids, array_agg(r.user_id) as user_ids, array_agg(r.has_looked) as have_looked,
    array_agg(r.has_left) as have_left
  from reported r
  where r.kind = 'conversation'
  having count(*) > 0
) c
cross join lateral tacet.view_conversations(c.ids, c.user_ids, c.have_looked, c.have_left) v
union all
select v.surface_kind, v.surface_id, v.user_id, v.is_viewer, v.is_skipped
from (
  select
    array_agg(r.kind) as kinds, array_agg(r.id) as ids, array_agg(r.user_id) as user_ids,
    array_agg(r.has_looked) as have_looked, array_agg(r.has_left) as have_left
  from reported r
  where r.kind <> 'conversation'
  having count(*) > 0
) s
cross join lateral tacet.view_surfaces(s.kinds, s.ids, s.user_ids, s.have_looked, s.have_left) v;

-- name: latest_push(fetch_digest text)
-- Returns the newest push to the user of a browser in the last day that shows something, and what it says; nulls without one, and no
-- row for an unknown browser.
--
-- fetch_digest: SHA-256 of the token of the browser's worker, in hexadecimal.

select
  m.subject_id, m.kind, t.user_id, m.enqueued_at, m.surface_id, m.push_kind, m.sender_name, m.body, m.content,
  case when m.kind is not null then tacet.unread_count(t.user_id) end as badge, t.locale
from (
  select x.user_id, x.locale
  from tacet.targets x
  where x.fetch_digest = :fetch_digest and x.dropped_at is null
  limit 1
) t
left join lateral (
  select n.subject_id, n.kind, n.enqueued_at, e.surface_id, e.sender_name, e.body, e.push_kind, e.content
  from (
    -- A push that is on its way has no row in the ledger yet, and is found in the inbox.
    (
      select l.subject_id, l.push_type as kind, l.enqueued_at
      from tacet.push_log l
      where l.user_id = t.user_id and l.enqueued_at > now() - interval '1 day'
        and l.decision = 'sent' and l.push_type not in ('read_sync', 'live_activity', 'schedule_changed')
      order by l.enqueued_at desc
      limit 1
    )
    union all
    (
      select i.subject_id, i.kind, i.enqueued_at
      from tacet.pushes p
      join tacet.inbox i on i.subject_id = tacet.subject_of(p.id)
      where p.user_id = t.user_id and i.is_claimed
      order by i.enqueued_at desc
      limit 1
    )
    order by 3 desc
    limit 1
  ) n
  cross join lateral tacet.event_facts(n.kind, n.subject_id) e
  limit 1
) m on true;

-- name: record_opening(log_id uuid, user_id tacet.user_id)
-- Records that a push was opened, once. Returns whether the ledger has such a row.

with opened as (
  update tacet.push_log l
  set opened = true, opened_at = clock_timestamp()
  where l.id = :log_id and l.user_id = :user_id and not l.opened
)
select exists (select from tacet.push_log l where l.id = :log_id and l.user_id = :user_id);

-- name: record_worker_openings(fetch_digest text, log_ids uuid[])
-- Records pushes as opened that the worker of a browser reports. Pushes of another user than the browser's are left out. Returns
-- the user, or no row for an unknown browser.
--
-- fetch_digest: SHA-256 of the token of the browser's worker, in hexadecimal.

with owner as materialized (
  select t.user_id
  from tacet.targets t
  where t.fetch_digest = :fetch_digest and t.dropped_at is null
  limit 1
), opened as (
  update tacet.push_log l
  set opened = true, opened_at = clock_timestamp()
  where l.id = any (:log_ids) and not l.opened and l.user_id = (select o.user_id from owner o)
)
select o.user_id from owner o;

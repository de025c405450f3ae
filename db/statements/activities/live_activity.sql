-- Returns a Live Activity as one JSON document; no row without it.
--
--   :activity_id  text           the activity's id
--   :user_id      tacet.user_id  the user whose it is, also where an app has announced it; null for one of a server or a row
--   :updates_max  integer        pushes at most, the newest first
--
-- decision is null for a push that is still under way.

select json_build_object(
  'id', case when a.is_announced then :activity_id else a.id end, 'type', a.type, 'user_id', a.user_id, 'version', a.version, 'attributes', a.attributes,
  'state', a.state, 'started_us', (extract(epoch from a.started_at) * 1000000)::bigint,
  'ended_us', (extract(epoch from a.ended_at) * 1000000)::bigint, 'end_reason', a.end_reason,
  'start_tokens', (
    select count(*) from tacet.activity_start_tokens s where s.user_id = a.user_id and s.type = a.type),
  'update_tokens', (select count(*) from tacet.activity_tokens k where k.activity_id = a.id),
  'updates', coalesce((
    select json_agg(json_build_object(
      'subject_id', u.id, 'version', u.version, 'merged', u.merged, 'event', u.event, 'state', u.state, 'priority', u.priority,
      'timestamp', u.unix_time, 'decision', l.decision, 'reason', l.reason,
      'sent_us', (extract(epoch from l.sent_at) * 1000000)::bigint, 'devices_accepted', l.devices_accepted,
      'created_us', (extract(epoch from u.created_at) * 1000000)::bigint) order by u.version desc)
    from (
      select * from tacet.activity_updates x where x.activity_id = a.id order by x.version desc limit :updates_max
    ) u
    left join tacet.push_log l
      on l.subject_id = tacet.subject_of(u.id) and l.user_id = a.user_id
      and l.push_type = 'live_activity'
  ), '[]'))::text
from tacet.activities a
where a.id = case when :user_id is null then :activity_id else tacet.live_activity_of(:activity_id, :user_id) end;

-- Live Activities: what apps and servers say of them, and what the service does for them.

-- name: start_live_activity(
--   activity_id text, user_id tacet.user_id, type text, attributes text, state text, alert text, is_pushed boolean)
-- Starts a Live Activity; see tacet.start_live_activity. Returns a word.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select tacet.start_live_activity(
  :activity_id, :user_id, :type, :attributes::jsonb, :state::jsonb, :alert::jsonb, :is_pushed)
from durable;

-- name: update_live_activity(activity_id text, user_id tacet.user_id, state text, alert text, priority integer, relevance text)
-- Gives a Live Activity its next state; see tacet.update_live_activity. Returns a word.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select tacet.update_live_activity(
  case when :user_id is null then :activity_id else tacet.live_activity_of(:activity_id, :user_id) end, :state::jsonb, :alert::jsonb,
  :priority, :relevance::double precision)
from durable;

-- name: end_live_activity(activity_id text, user_id tacet.user_id, state text, alert text, reason text, is_pushed boolean)
-- Ends a Live Activity; see tacet.end_live_activity. Returns a word.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select tacet.end_live_activity(
  case when :user_id is null then :activity_id else tacet.live_activity_of(:activity_id, :user_id) end, :state::jsonb, :alert::jsonb,
  :reason, :is_pushed)
from durable;

-- name: end_live_activities(user_id tacet.user_id)
-- Ends all of a user's Live Activities. Returns how many there were.

with durable as materialized (select set_config('synchronous_commit', 'on', true)), running as materialized (
  select a.id from tacet.activities a where a.user_id = :user_id and a.ended_at is null order by a.id for update
), ended as materialized (
  select tacet.surely_end_live_activity(r.id, 'server') from running r
)
select count(*) from durable cross join ended;

-- name: live_activity(activity_id text, user_id tacet.user_id, updates_max integer)
-- Returns a Live Activity as one JSON document; no row without it.
--
-- user_id: the user whose it is, also where an app has announced it; null for one of a server or a row. updates_max: pushes at
-- most, the newest first.
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

-- name: put_activity_token(activity_id text, user_id tacet.user_id, device_token text, token text, app text, environment text)
-- Keeps the token by which a user's Live Activity is updated; see tacet.put_activity_token. Returns whether there is one.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select tacet.put_activity_token(:activity_id, :user_id, :device_token, :token, :app, :environment)
from durable;

-- name: put_start_token(user_id tacet.user_id, device_token text, type text, token text, app text, environment text)
-- Keeps the token by which a device starts Live Activities of a type; see tacet.put_start_token. Returns whether there is the type.

with durable as materialized (select set_config('synchronous_commit', 'on', true))
select tacet.put_start_token(:user_id, :device_token, :type, :token, :app, :environment)
from durable;

-- name: follow_changed_rows(rows_max integer)
-- Lets Live Activities follow the rows of watched tables that have changed. Returns how many were taken from the queue; see
-- tacet.follow_changed_rows.

select tacet.follow_changed_rows(:rows_max);

-- name: tend_live_activities(activities_max integer)
-- Ends Live Activities after eight hours, and repeats what a trigger could not do; see tacet.tend_live_activities. Returns how many.

select tacet.tend_live_activities(:activities_max)::bigint;

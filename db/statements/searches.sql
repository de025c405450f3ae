-- What operators look for.

-- name: newest_pushes(rows_max bigint)
-- Returns the newest rows of the ledger.

-- include: pushes
order by l.enqueued_at desc
limit :rows_max;

-- name: pushes_of_user(user_id tacet.user_id, last_enqueued_us bigint, last_id uuid, rows_max bigint)
-- Returns a page of a user's pushes, newest first.
--
-- last_enqueued_us: time of the last row of the page before; null for the first page. last_id: id of that row.

-- include: pushes
where l.user_id = :user_id
  and (l.enqueued_at, l.id) < (
    coalesce(timestamptz 'epoch' + :last_enqueued_us * interval '1 microsecond', 'infinity'),
    coalesce(:last_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
order by l.enqueued_at desc, l.id desc
limit :rows_max;

-- name: pushes_of_subject(subject_id tacet.subject_id, last_user_id tacet.user_id, last_kind text, rows_max bigint)
-- Returns a page of the recipients of a subject.
--
-- last_user_id: user of the last row of the page before; null for the first page. last_kind: kind of that row.

-- include: pushes
where l.subject_id = :subject_id
  and (l.user_id, l.push_type) > (coalesce(:last_user_id, tacet.lowest_user_id()),
    coalesce(:last_kind, ''))
order by l.user_id, l.push_type
limit :rows_max;

-- name: device_token_owners(beginning text, owners_max bigint)
-- Returns who has a device token that begins like this.
--
-- beginning: the beginning, in lower case.

select o.user_id, left(lower(o.device_token), 8) as device
from tacet.device_token_owners(:beginning, :owners_max::int) o
where o.user_id is not null;

-- name: engagement(from_us bigint, to_us bigint)
-- How engaged users are, and their sessions; see tacet.engagement.

select
  :from_us as period_start, :to_us as period_end, e.total_users, e.active_users, e.recent_users, e.lapsed_users, e.churn_risk_users,
  e.sessions, e.session_seconds
from tacet.engagement(
  timestamptz 'epoch' + :from_us * interval '1 microsecond', timestamptz 'epoch' + :to_us * interval '1 microsecond') e;

-- name: engagement_analyses(rows_max bigint)
-- The stored analyses of engagement, the newest first. Times are microseconds since 1970.

select
  tacet.unix_us(a.analysed_at) as analysed_at, tacet.unix_us(a.period_start) as period_start,
  tacet.unix_us(a.period_end) as period_end, a.total_users, a.active_users, a.recent_users, a.lapsed_users,
  a.churn_risk_users, a.sessions, a.session_seconds
from tacet.engagement_analyses a
order by a.analysed_at desc
limit :rows_max;

-- name: analyse_engagement
-- Stores how engaged users are, if that is due. Returns after how long to ask again; see tacet.analyse_engagement.

select (extract(epoch from tacet.analyse_engagement()) * 1000000)::bigint as due_us;

-- part: pushes
select
  l.id, tacet.unix_us(l.enqueued_at) as enqueued_at, l.subject_id, l.push_type as kind, l.user_id,
  l.decision, l.reason, tacet.unix_us(l.held_until) as held_until,
  tacet.unix_us(l.sent_at) - tacet.unix_us(l.enqueued_at) as way, l.devices_accepted
from tacet.push_log l

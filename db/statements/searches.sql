-- What operators look for.

-- name: newest_pushes
-- Returns the newest rows of the ledger.
--
--   :rows_max  bigint  rows at most

-- include: pushes
order by l.enqueued_at desc
limit :rows_max;

-- name: pushes_of_user
-- Returns a page of a user's pushes, newest first.
--
--   :user_id           tacet.user_id  the user
--   :last_enqueued_us  bigint         time of the last row of the page before, since 1970; null for the first page
--   :last_id           uuid           id of that row
--   :rows_max          bigint         rows at most

-- include: pushes
where l.user_id = :user_id
  and (l.enqueued_at, l.id) < (
    coalesce(timestamptz 'epoch' + :last_enqueued_us * interval '1 microsecond', 'infinity'),
    coalesce(:last_id, 'ffffffff-ffff-ffff-ffff-ffffffffffff'))
order by l.enqueued_at desc, l.id desc
limit :rows_max;

-- name: pushes_of_subject
-- Returns a page of the recipients of a subject.
--
--   :subject_id    tacet.subject_id  the subject
--   :last_user_id  tacet.user_id     user of the last row of the page before; null for the first page
--   :last_kind     text              kind of that row
--   :rows_max      bigint            rows at most

-- include: pushes
where l.subject_id = :subject_id
  and (l.user_id, l.push_type) > (coalesce(:last_user_id, tacet.lowest_user_id()),
    coalesce(:last_kind, ''))
order by l.user_id, l.push_type
limit :rows_max;

-- name: device_token_owners
-- Returns who has a device token that begins like this.
--
--   :beginning   text    the beginning, in lower case
--   :owners_max  bigint  owners at most

select o.user_id, left(lower(o.device_token), 8) as device
from tacet.device_token_owners(:beginning, :owners_max::int) o
where o.user_id is not null;

-- name: engagement
-- How engaged users are, and their sessions; see tacet.engagement.
--
--   :from_us  bigint  the beginning of the period, since 1970
--   :to_us    bigint  its end

select e.total_users, e.active_users, e.recent_users, e.lapsed_users, e.churn_risk_users, e.sessions, e.session_seconds
from tacet.engagement(
  timestamptz 'epoch' + :from_us * interval '1 microsecond', timestamptz 'epoch' + :to_us * interval '1 microsecond') e;

-- name: engagement_analyses
-- The stored analyses of engagement, the newest first. Times are microseconds since 1970.
--
--   :rows_max  bigint  how many are returned

select
  tacet.unix_us(a.analysed_at) as analysed_us, tacet.unix_us(a.period_start) as from_us,
  tacet.unix_us(a.period_end) as to_us, a.total_users, a.active_users, a.recent_users, a.lapsed_users,
  a.churn_risk_users, a.sessions, a.session_seconds
from tacet.engagement_analyses a
order by a.analysed_at desc
limit :rows_max;

-- name: analyse_engagement
-- Stores how engaged users are, if that is due. Returns after how long to ask again; see tacet.analyse_engagement.

select (extract(epoch from tacet.analyse_engagement()) * 1000000)::bigint as due_us;

-- part: pushes
select
  l.id, tacet.unix_us(l.enqueued_at) as enqueued_us, l.subject_id, l.push_type, l.user_id,
  l.decision, l.reason, tacet.unix_us(l.held_until) as held_until_us,
  tacet.unix_us(l.sent_at) - tacet.unix_us(l.enqueued_at) as latency_us,
  l.devices_accepted::bigint as devices_accepted
from tacet.push_log l

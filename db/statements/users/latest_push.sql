-- Returns the newest push to the user of a browser in the last day that shows something, and what it says; nulls without one, and no
-- row for an unknown browser.
--
--   :fetch_digest  text  SHA-256 of the token of the browser's worker, in hexadecimal

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
  select
    n.subject_id, n.kind, n.enqueued_at, e.surface_id, left(e.sender_name, 1024) as sender_name, left(e.body, 4096) as body, e.push_kind,
    case when octet_length(e.content) <= 65536 then e.content end as content
  from tacet.newest_push(t.user_id) n
  cross join lateral (
    select c.conversation_id as surface_id, c.sender_name, c.body, 'message' as push_kind, null::text as content
    from tacet.message_context(tacet.message_of(n.subject_id)) c
    where n.kind = 'message'
    union all
    select c.surface_id, null, null, c.push_kind, c.content
    from tacet.event_content(n.kind, n.subject_id) c
    where n.kind <> 'message'
  ) e
  limit 1
) m on true;

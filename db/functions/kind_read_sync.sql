-- The kind read_sync: a user's reads, for the user's other devices; and deleted messages, for those to whom they were pushed. The
-- latter name no user.

create or replace function tacet.read_sync_content(event_kind text, subject_id tacet.subject_id)
returns setof tacet.push_content
language sql stable rows 1
set search_path = pg_catalog, pg_temp
as $$
  select
    s.conversation_id, null::tacet.user_id, null::timestamptz, null::interval, null::text, left(s.device_token, 512), null::text,
    true, json_build_object('message_ids', s.message_ids[:100], 'has_more', s.has_more)
  from tacet.read_syncs s
  where s.id = tacet.row_of(read_sync_content.subject_id)
$$;

create or replace function tacet.read_sync_audience(event_kind text, subject_id tacet.subject_id, surface_id tacet.conversation_id)
returns setof tacet.push_recipient
language sql stable rows 10
set search_path = pg_catalog, pg_temp
as $$
  select s.user_id, null::timestamptz, null::timestamptz
  from tacet.read_syncs s
  where s.id = tacet.row_of(read_sync_audience.subject_id) and s.user_id is not null
  union all
  select distinct l.user_id, null::timestamptz, null::timestamptz
  from tacet.read_syncs s
  cross join unnest(s.message_ids) as m (message_id)
  join tacet.push_log l on l.subject_id = m.message_id::tacet.subject_id and l.push_type = 'message' and l.decision = 'sent'
  where s.id = tacet.row_of(read_sync_audience.subject_id) and s.user_id is null
$$;

call tacet.register_kind('read_sync', 'read_sync', 'tacet.read_sync_content', 'tacet.read_sync_audience');

-- The kind live_activity: rows of tacet.activity_updates, for the devices that show the Live Activity.

-- A start carries the newest state, and so does a push that waits for some of the devices because APNs asks to: the newer pushes have
-- left these out. Any other push with an older state than the newest is not sent, and no start after the end. The user's wish to have no
-- pushes of the kind counts for starts.
create or replace function tacet.live_activity_content(event_kind text, subject_id tacet.subject_id)
returns setof tacet.push_content
language plpgsql stable rows 1
as $$
#variable_conflict use_column
begin
  return query
  select
    null::tacet.conversation_id, null::tacet.user_id, null::timestamptz,
    case u.event when 'start' then coalesce(t.stale_after_start, '30 minutes') else interval '8 hours' end, null::text, null::text,
    case
      when u.event = 'start' and a.ended_at is not null or u.event <> 'start' and a.version > u.version then 'cancelled'
      when u.event = 'start' then (
        select 'opted_out'
        from tacet.recipient_preferences(a.user_id, live_activity_content.event_kind, null, clock_timestamp()) p
        where p.is_opted_out)
    end,
    true,
    json_build_object(
      'activity_id', a.id, 'event', u.event, 'unix_time', u.unix_time, 'type', a.type,
      'attributes', case when u.event = 'start' then a.attributes || jsonb_build_object('activityId', a.id) end,
      'state', case when u.event = 'start' then a.state else u.state end, 'alert', u.alert, 'priority', u.priority,
      'relevance', u.relevance, 'stale_at', floor(extract(epoch from u.stale_at))::bigint,
      'dismiss_at', floor(extract(epoch from u.dismiss_at))::bigint,
      'addresses', tacet.live_activity_addresses(a, u.event, asked.id))
  from tacet.activity_updates asked
  join tacet.activities a on a.id = asked.activity_id
  join tacet.activity_types t on t.name = a.type
  join tacet.activity_updates u on u.activity_id = a.id and u.version = case
    when asked.event <> 'start' and a.version > asked.version and exists (
      select from tacet.push_log l
      where l.subject_id = live_activity_content.subject_id and l.user_id = a.user_id and l.push_type = 'live_activity'
        and l.devices_accepted > 0 and tacet.has_asked_to_wait(l.history, null))
      then a.pushed_version
    else asked.version
  end
  where asked.id = tacet.row_of(live_activity_content.subject_id);
end
$$;

create or replace function tacet.live_activity_audience(
  event_kind text, subject_id tacet.subject_id, surface_id tacet.conversation_id
)
returns setof tacet.push_recipient
language sql stable rows 1
set search_path = pg_catalog, pg_temp
as $$
  select a.user_id, null::timestamptz, null::timestamptz
  from tacet.activity_updates u
  join tacet.activities a on a.id = u.activity_id
  where u.id = tacet.row_of(live_activity_audience.subject_id)
$$;

call tacet.register_kind('live_activity', 'live_activity', 'tacet.live_activity_content', 'tacet.live_activity_audience');

-- Pushes that nobody looks at: whether one was looked at, and what users want of push.unread.

set check_function_bodies = off;

-- Why the host need not know that a push is unread: it was opened, read, seen, deleted or cancelled, the user has left, is gone or
-- wants none, or the ledger has it no more. Null while it is unread.
create or replace function tacet.looked_at_because(log_id uuid)
returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  push record;
  about record;
  person record;
begin
  select l.user_id, l.subject_id, l.push_type, l.opened, l.enqueued_at, l.decision into push
  from tacet.push_log l
  where l.id = looked_at_because.log_id;
  if not found or push.decision <> 'sent' then
    return 'not_kept';
  end if;
  if push.opened then
    return 'opened';
  end if;
  if exists (select from tacet.erasures e where e.user_id = push.user_id) or not tacet.has_account(push.user_id) then
    return 'user_gone';
  end if;
  if exists (
    select from tacet.unread_preferences p where p.user_id = push.user_id and p.kind = push.push_type and p.after is null)
  then
    return 'opted_out';
  end if;
  if push.push_type = 'message' then
    select
      c.conversation_id as surface_id, c.created_at as dated_at, push.user_id = any (c.read_by) as is_read,
      null::text as withheld
    into about
    from tacet.message_context(tacet.message_of(push.subject_id)) c
    limit 1;
  else
    select c.surface_id, c.dated_at, false as is_read, c.withheld, c.push_kind into about
    from tacet.event_content(push.push_type, push.subject_id) c
    limit 1;
  end if;
  if not found then
    return 'deleted';
  end if;
  if about.withheld is not null then
    return about.withheld;
  end if;
  if about.is_read then
    return 'read';
  end if;
  if push.push_type = 'message' then
    select v.last_seen into person from tacet.seen_by(about.surface_id) v where v.user_id = push.user_id limit 1;
  else
    select v.last_seen into person
    from tacet.event_audience(about.push_kind, push.push_type, push.subject_id, about.surface_id) v
    where v.user_id = push.user_id
    limit 1;
  end if;
  if not found then
    return 'left';
  end if;
  -- As the gate judges it: a report from the future proves nothing.
  if person.last_seen <= now() and person.last_seen > greatest(
    case when about.dated_at > '-infinity' and about.dated_at <= now() then about.dated_at end, push.enqueued_at)
  then
    return 'seen';
  end if;
  return null;
end
$$;

-- Looks at pushes that are due, at most checks_max. Each makes one event, which is cancelled at once if the push was looked at. A
-- check for which a function of the host fails is tried again a minute later, for an hour. Returns how many were due.
create or replace function tacet.check_unread(checks_max int)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  due tacet.unread_checks;
  cause text;
  looked bigint := 0;
begin
  for due in
    select c.* from tacet.unread_checks c where c.due_at <= clock_timestamp() order by c.due_at limit checks_max
    for update skip locked
  loop
    looked := looked + 1;
    begin
      cause := tacet.looked_at_because(due.log_id);
    exception
      when others then
        cause := 'not_known';
    end;
    delete from tacet.unread_checks c where c.log_id = due.log_id;
    insert into tacet.host_events (
      type, user_id, log_id, subject_id, kind, sent_at, state, reason, ended_at, due_at
    )
    select
      'push.unread', due.user_id, due.log_id, l.subject_id, l.push_type, l.sent_at,
      case when cause is null or cause = 'not_known' then 'waiting' else 'cancelled' end, nullif(cause, 'not_known'),
      case when cause <> 'not_known' then clock_timestamp() end,
      clock_timestamp() + case when cause = 'not_known' then interval '1 minute' else interval '0' end
    from tacet.push_log l
    where l.id = due.log_id
    on conflict do nothing;
  end loop;
  return looked;
end
$$;

-- Replaces what a user wants of push.unread. afters: null for never; one element for each kind.
create or replace function tacet.put_unread_preferences(user_id tacet.user_id, kinds text[], afters interval[])
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  delete from tacet.unread_preferences p
  where p.user_id = put_unread_preferences.user_id and p.kind <> all (put_unread_preferences.kinds);
  insert into tacet.unread_preferences as p (user_id, kind, after)
  select put_unread_preferences.user_id, n.kind, n.after
  from unnest(put_unread_preferences.kinds, put_unread_preferences.afters) as n (kind, after)
  on conflict (user_id, kind) do update set after = excluded.after where p.after is distinct from excluded.after;
end
$$;

reset check_function_bodies;

-- Kinds of push: every file kind_*.sql registers one, with a function for its content and one for its audience.
--
-- content: (event_kind text, subject_id tacet.subject_id) returns setof tacet.push_content; one row, none when the event is gone.
-- audience: (event_kind text, subject_id tacet.subject_id, surface_id tacet.conversation_id) returns setof tacet.push_recipient;
-- each user once.
--
-- The kinds of an installation whose files have not changed.
call tacet.join_kinds();

-- What is known of a message, by the host contract; no row when it is gone. Texts and lists are cut, also those of functions that a host
-- has replaced. A character has four bytes at most, and no preview shows as much as is left. Of the readers the last 10000 are kept, because
-- readers are appended.
--
-- This and the next two functions become a part of the statements that ask, and the host's functions with them. Who asks for the recipients
-- too has `limit 1`, or the planner would compute this for each of them.
create or replace function tacet.message_facts(subject_id tacet.subject_id)
returns table (
  surface_id tacet.conversation_id, sender_id tacet.user_id, sender_name text, body text, created_at timestamptz,
  read_by tacet.user_id[], prior_read_by tacet.user_id[], prior_touched_at timestamptz
)
language sql stable rows 1
as $$
  select
    c.conversation_id, c.sender_id, left(c.sender_name, 1024), left(c.body, 4096), c.created_at,
    case when cardinality(c.read_by) > 10000 then c.read_by[cardinality(c.read_by) - 9999:] else c.read_by end,
    case when cardinality(c.prior_read_by) > 10000 then c.prior_read_by[cardinality(c.prior_read_by) - 9999:] else c.prior_read_by end,
    c.prior_touched_at
  from tacet.message_context(tacet.message_of(message_facts.subject_id)) c
$$;

-- What is known of an event: of any but a message, whose content is one JSON document, by the function of its kind. Content that is too
-- long is dropped, because half of a JSON object is no object. The executor asks for the kind first, and once.
create or replace function tacet.event_facts(event_kind text, subject_id tacet.subject_id)
returns table (
  push_kind text, surface_id tacet.conversation_id, sender_id tacet.user_id, sender_name text, body text, created_at timestamptz,
  read_by tacet.user_id[], prior_read_by tacet.user_id[], prior_touched_at timestamptz, dated_at timestamptz, life_us bigint,
  quiet_policy text, reading_device text, withheld text, is_silent boolean, content text
)
language sql stable rows 1
as $$
  select 'message', f.*, null::timestamptz, null::bigint, null, null, null, false, null
  from tacet.message_facts(event_facts.subject_id) f
  where event_facts.event_kind = 'message'
  union all
  select
    c.push_kind, c.surface_id, c.actor_id, null, null, c.dated_at, null, null, null, c.dated_at, c.life_us, left(c.quiet_policy, 16),
    left(c.excluded_device, 16384), left(c.withheld, 16), c.is_silent, case when octet_length(c.content) <= 65536 then c.content end
  from tacet.event_content(event_facts.event_kind, event_facts.subject_id) c
  where event_facts.event_kind <> 'message'
$$;

-- Whom an event concerns, the sender of a message too, and when each last looked at its surface. surface_id, push_kind: as
-- tacet.event_facts says them.
create or replace function tacet.event_recipients(
  push_kind text, event_kind text, subject_id tacet.subject_id, surface_id tacet.conversation_id
)
returns setof tacet.push_recipient
language sql stable rows 10
as $$
  select v.user_id, v.last_seen, v.left_at
  from tacet.seen_by(event_recipients.surface_id) v
  where event_recipients.event_kind = 'message'
  union all
  select c.user_id, c.last_seen, c.left_at
  from tacet.event_audience(
    event_recipients.push_kind, event_recipients.event_kind, event_recipients.subject_id, event_recipients.surface_id) c
  where event_recipients.event_kind <> 'message'
$$;

-- When an event that is to be pushed at a moment becomes available: at once without one, and 31 days from now at the latest.
create or replace function tacet.available_at(send_at timestamptz)
returns timestamptz
language sql volatile
as $$
  select greatest(
    clock_timestamp(),
    least(coalesce(available_at.send_at, '-infinity'), clock_timestamp() + interval '31 days'))
$$;

-- Cancels the pushes of a key that have not been sent: those that were asked for before, and events of watched rows with that
-- key for good (61 days, longer than any of them waits), because a key of theirs names a row. Returns how many a server has asked for that wait.
create or replace function tacet.cancel_pushes(cancel_key text)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into tacet.cancellations as c (cancel_key)
  values (cancel_pushes.cancel_key)
  on conflict on constraint cancellations_pkey do update set cancelled_at = excluded.cancelled_at;
  return tacet.hasten_cancelled(array(select p.id from tacet.pushes p where p.cancel_key = cancel_pushes.cancel_key));
end
$$;

-- Has cancelled pushes looked at now, those that are held too. Returns how many are in the inbox and wait.
create or replace function tacet.hasten_cancelled(push_ids uuid[])
returns bigint
language plpgsql volatile
as $$
declare
  waiting bigint;
begin
  perform tacet.release_holds(array_agg(d.subject_id), array_agg(d.user_id), array_agg('cancelled'::text))
  from unnest(push_ids) as p (id)
  join tacet.deliveries d on d.subject_id = tacet.subject_of(p.id)
  where d.state = 'held'
  having count(*) > 0;
  update tacet.inbox i
  set available_at = least(i.available_at, clock_timestamp())
  from unnest(push_ids) as p (id)
  where i.subject_id = tacet.subject_of(p.id) and not i.is_claimed;
  get diagnostics waiting = row_count;
  if waiting > 0 then
    perform tacet.wake(null);
  end if;
  return waiting;
end
$$;

-- The pushes of a user that servers have asked for or campaigns have queued, and that wait: for their time, a hold's end or another
-- try. The next first; due_at: when they are looked at. Those that are cancelled are left out.
create or replace function tacet.waiting_pushes(user_id tacet.user_id)
returns table (push_id uuid, kind text, title text, due_at timestamptz, state text, cancel_key text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select p.id, p.kind, p.title, w.due_at, w.state, p.cancel_key
  from tacet.pushes p
  cross join lateral (
    select i.available_at as due_at, 'scheduled' as state
    from tacet.inbox i
    where i.subject_id = tacet.subject_of(p.id) and i.kind = p.kind
    union all
    select d.due_at, d.state
    from tacet.deliveries d
    where d.subject_id = tacet.subject_of(p.id) and d.user_id = p.user_id and d.kind = p.kind
    limit 1
  ) w
  where p.user_id = waiting_pushes.user_id and p.withheld is distinct from 'cancelled'
    and (p.cancel_key is null or not tacet.is_cancelled(p.cancel_key, p.created_at))
  order by w.due_at, p.id
$$;

-- Cancels all of them. Returns how many.
create or replace function tacet.cancel_user_pushes(user_id tacet.user_id)
returns bigint
language plpgsql volatile
as $$
declare
  found_pushes uuid[] := array(select w.push_id from tacet.waiting_pushes(cancel_user_pushes.user_id) w order by w.push_id);
begin
  update tacet.pushes p set withheld = 'cancelled' where p.id = any (found_pushes);
  perform tacet.hasten_cancelled(found_pushes);
  return cardinality(found_pushes);
end
$$;

-- Whether a key was cancelled after a moment; ever without one.
create or replace function tacet.is_cancelled(cancel_key text, asked_at timestamptz)
returns boolean
language plpgsql stable
as $$
begin
  return exists (
    select from tacet.cancellations c
    where c.cancel_key = is_cancelled.cancel_key
      and (is_cancelled.asked_at is null or c.cancelled_at >= is_cancelled.asked_at)
  );
end
$$;

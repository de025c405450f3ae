-- Kinds of push: every file kind_*.sql registers one, with a function for its content and one for its audience.
--
-- content: (event_kind text, subject_id tacet.subject_id) returns setof tacet.push_content; one row, none when the event is gone.
-- audience: (event_kind text, subject_id tacet.subject_id, surface_id tacet.conversation_id) returns setof tacet.push_recipient;
-- each user once.
--
-- Messages are not asked for here: the claim plans the host's functions into its own query.

set check_function_bodies = off;

-- What a kind's function says of one event. Each `execute` is planned anew. Campaigns push a hundred thousand users in a minute, so
-- their function has a statement, whose plan a session keeps.
create or replace function tacet.content_by(function_name text, event_kind text, subject_id tacet.subject_id)
returns setof tacet.push_content
language plpgsql stable rows 1
set search_path = pg_catalog, pg_temp
as $$
begin
  if function_name = 'tacet.campaign_push_content' then
    return query select c.* from tacet.campaign_push_content(event_kind, subject_id) c;
  else
    return query execute format('select c.* from %s($1, $2) c', function_name) using event_kind, subject_id;
  end if;
end
$$;

-- What the rules and the composer need of one event, by the function of its kind: that of its name, else the first one that
-- knows it.
create or replace function tacet.event_content(event_kind text, subject_id tacet.subject_id)
returns table (
  push_kind text,
  surface_id tacet.conversation_id,
  actor_id tacet.user_id,
  dated_at timestamptz,
  life_us bigint,
  quiet_policy text,
  excluded_device text,
  withheld text,
  is_silent boolean,
  content text
)
language plpgsql stable rows 1
set search_path = pg_catalog, pg_temp
as $$
declare
  registered tacet.push_kinds;
begin
  for registered in
    select k.*
    from tacet.push_kinds k
    where k.event_kind = event_content.event_kind or k.event_kind is null
    order by k.event_kind, k.name
  loop
    return query
    select
      registered.name, c.surface_id, c.actor_id, c.dated_at, (extract(epoch from c.life) * 1000000)::bigint,
      c.quiet_policy, c.excluded_device, c.withheld, coalesce(c.is_silent, false), coalesce(c.content, '{}')::text
    from tacet.content_by(registered.content, event_content.event_kind, event_content.subject_id) c
    limit 1;
    if found or registered.event_kind is not null then
      return;
    end if;
  end loop;
end
$$;

-- The recipients of one event of a kind, each once, and when each last looked at its surface. None for a null kind.
create or replace function tacet.event_audience(
  push_kind text, event_kind text, subject_id tacet.subject_id, surface_id tacet.conversation_id
)
returns setof tacet.push_recipient
language plpgsql stable rows 10
set search_path = pg_catalog, pg_temp
as $$
declare
  found_audience text;
begin
  select k.audience into found_audience from tacet.push_kinds k where k.name = event_audience.push_kind;
  if found_audience = 'tacet.stored_push_audience' then
    return query
    select c.*
    from tacet.stored_push_audience(event_audience.event_kind, event_audience.subject_id, event_audience.surface_id) c;
  elsif found_audience is not null then
    return query execute format('select c.* from %s($1, $2, $3) c', found_audience)
    using event_audience.event_kind, event_audience.subject_id, event_audience.surface_id;
  end if;
end
$$;

-- When an event that is to be pushed at a moment becomes available: at once without one, and 31 days from now at the latest.
create or replace function tacet.available_at(send_at timestamptz)
returns timestamptz
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select greatest(
    clock_timestamp(),
    least(coalesce(available_at.send_at, '-infinity'), clock_timestamp() + interval '31 days'))
$$;

-- Cancels the pushes of a key that have not been sent: those that were asked for before, and events of watched rows with that
-- key for good, because a key of theirs names a row. Returns how many a server has asked for that wait.
create or replace function tacet.cancel_pushes(cancel_key text)
returns bigint
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  waiting bigint;
begin
  insert into tacet.cancellations as c (cancel_key)
  values (cancel_pushes.cancel_key)
  on conflict on constraint cancellations_pkey do update set cancelled_at = excluded.cancelled_at;
  perform tacet.release_holds(array_agg(d.subject_id), array_agg(d.user_id), array_agg('cancelled'::text))
  from tacet.pushes p
  join tacet.deliveries d on d.subject_id = p.id::tacet.subject_id and d.kind = p.kind
  where p.cancel_key = cancel_pushes.cancel_key and d.state = 'held'
  having count(*) > 0;
  with brought as (
    update tacet.inbox i
    set available_at = least(i.available_at, clock_timestamp())
    from tacet.pushes p
    where p.cancel_key = cancel_pushes.cancel_key and i.subject_id = p.id::tacet.subject_id and i.kind = p.kind
      and not i.is_claimed
    returning 1
  )
  select count(*) into waiting from brought;
  if waiting > 0 then
    perform tacet.wake(null);
  end if;
  return waiting;
end
$$;

-- Whether a key was cancelled after a moment; ever without one.
create or replace function tacet.is_cancelled(cancel_key text, asked_at timestamptz)
returns boolean
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select from tacet.cancellations c
    where c.cancel_key = is_cancelled.cancel_key
      and (is_cancelled.asked_at is null or c.cancelled_at >= is_cancelled.asked_at)
  );
end
$$;

reset check_function_bodies;

-- The way of events to the host: claims, what the host answered, and events that are sent again.
--
-- A user's events go one after the other, the lowest id first. A claim locks the user, without a wait, before it looks at what is
-- under way, so that processes that claim side by side see each other's claims.

-- The lock on a user's events, for the transaction.
create or replace function tacet.host_event_lock(user_id tacet.user_id)
returns bigint
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select hashtextextended('host events ' || user_id, 1952539493)
$$;

-- Claims the oldest event of each of at most events_max users, unless it is tried later. A push that was looked at since it was due
-- makes no event. One for which a function of the host fails is put off by a minute, for an hour.
create or replace function tacet.claim_host_events(events_max int, lease interval)
returns setof tacet.host_events
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  owner tacet.user_id;
  claimed tacet.host_events;
  given int := 0;
begin
  for owner in
    select w.user_id
    from (
      select e.user_id, e.due_at
      from tacet.host_events e
      where e.state = 'waiting' and e.due_at <= (select clock_timestamp())
      order by e.due_at
      limit 10 * events_max
    ) w
    group by w.user_id
    order by min(w.due_at)
  loop
    exit when given = events_max;
    continue when not pg_try_advisory_xact_lock(tacet.host_event_lock(owner));
    claimed := tacet.claim_host_event(owner, lease);
    if claimed.id is not null then
      given := given + 1;
      return next claimed;
    end if;
  end loop;
end
$$;

-- Claims the oldest event of a user who is locked; null if there is none to try now. Later events become due with it: otherwise
-- each claim would look at them again. However many events wait, each question has an index that leads to its answer, and the planner's figures of a burst are old.
create or replace function tacet.claim_host_event(owner tacet.user_id, lease interval)
returns tacet.host_events
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  moment timestamptz := clock_timestamp();
  head tacet.host_events;
  busy_until timestamptz;
  cause text;
begin
  loop
    select e.* into head from tacet.host_events e where e.user_id = owner and e.state = 'waiting' order by e.id limit 1;
    if not found then
      return null;
    end if;
    select max(e.due_at) into busy_until
    from tacet.host_events e
    where e.user_id = owner and e.state = 'waiting' and e.is_claimed and e.due_at > moment;
    busy_until := greatest(busy_until, case when head.due_at > moment then head.due_at end);
    if busy_until is not null then
      update tacet.host_events e set due_at = busy_until where e.user_id = owner and e.state = 'waiting' and e.due_at <= moment;
      return null;
    end if;
    exit when head.type <> 'push.unread';
    -- The last look before it is sent: if the push was looked at, or nobody can tell, the event is cancelled or put off.
    cause := tacet.looked_at_because(head.log_id);
    exit when cause is null;
    if cause = 'not_known' and head.occurred_at > clock_timestamp() - interval '1 hour' then
      update tacet.host_events e set due_at = clock_timestamp() + interval '1 minute', is_claimed = false where e.id = head.id;
    else
      update tacet.host_events e
      set state = 'cancelled', reason = cause, ended_at = clock_timestamp(), is_claimed = false
      where e.id = head.id;
    end if;
  end loop;
  update tacet.host_events e
  set is_claimed = true, attempts = e.attempts + 1, first_tried_at = coalesce(e.first_tried_at, moment), due_at = moment + lease
  where e.id = head.id
  returning e.* into head;
  update tacet.host_events e
  set due_at = head.due_at
  where e.user_id = owner and e.state = 'waiting' and e.due_at <= moment and e.id <> head.id;
  return head;
end
$$;

-- Records what the host answered to an attempt, unless the claim has passed to another. next_try: after how long to try again; null
-- when the host has taken the event. An event that was not taken within gives_up after its first attempt is dead. When an event
-- ends, the user's next one is due. Returns what has become of it; null if the claim is another's.
create or replace function tacet.settle_host_event(
  event_id bigint, attempt int, status int, error text, next_try interval, gives_up interval
)
returns text
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  owner tacet.user_id;
  became text;
begin
  select e.user_id into owner from tacet.host_events e where e.id = event_id;
  perform pg_advisory_xact_lock(tacet.host_event_lock(owner));
  update tacet.host_events e
  set
    state = n.state, is_claimed = false, status = settle_host_event.status, error = left(settle_host_event.error, 500),
    ended_at = case when n.state <> 'waiting' then clock_timestamp() end,
    due_at = clock_timestamp() + coalesce(next_try, interval '0')
  from (
    select
      x.id,
      case
        when next_try is null then 'taken'
        when clock_timestamp() + next_try > x.first_tried_at + gives_up then 'dead'
        else 'waiting'
      end as state
    from tacet.host_events x
    where x.id = event_id
  ) n
  where e.id = n.id and e.state = 'waiting' and e.is_claimed and e.attempts = settle_host_event.attempt
  returning e.state into became;
  if became in ('taken', 'dead') then
    delete from tacet.host_events e where e.id = event_id and e.state = 'taken' and e.type <> 'push.unread';
    update tacet.host_events e
    set due_at = least(e.due_at, clock_timestamp())
    where e.id = (select x.id from tacet.host_events x where x.user_id = owner and x.state = 'waiting' order by x.id limit 1)
      and not e.is_claimed;
  end if;
  return became;
end
$$;

-- Sends dead events again, behind what waits, and what waits for its next attempt at once. Returns how many there are.
create or replace function tacet.retry_host_events()
returns bigint
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  with resent as (
    update tacet.host_events e
    set
      id = default, state = 'waiting', attempts = 0, first_tried_at = null, ended_at = null, due_at = clock_timestamp()
    where e.state = 'dead'
    returning 1
  ), hastened as (
    update tacet.host_events e
    set due_at = clock_timestamp()
    where e.state = 'waiting' and not e.is_claimed and e.due_at > clock_timestamp()
    returning 1
  )
  select (select count(*) from resent) + (select count(*) from hastened)
$$;

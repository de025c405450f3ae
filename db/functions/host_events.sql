-- Events for the host: which it gets, which pushes nobody looks at, and their way to it.
--
-- A user's events go one after the other, the lowest id first. A claim locks the user, without a wait, before it looks at what is
-- under way, so that processes that claim side by side see each other's claims.

-- Sends these events to the host, and no others: push.unread, push.sent, push.skipped, push.failed, device.dropped. The caller owns
-- this schema. kinds: of pushes; null for all. Without push.unread no push is looked at any more. What waits to be sent is sent.
--
-- When the ledger is locked for more than a second, it fails and changes nothing.
create or replace function tacet.announce(events text[], kinds text[] default null)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set lock_timeout = '1s'
as $$
begin
  delete from tacet.announcements;
  insert into tacet.announcements (event, kinds) select distinct e.event, announce.kinds from unnest(announce.events) as e (event);
  if not 'push.unread' = any (events) then
    delete from tacet.unread_checks;
  end if;
  if exists (select from tacet.announcements a where a.event like 'push.%') then
    create or replace trigger announce_decided after insert on tacet.push_log referencing new table as changed
      for each statement execute function tacet.announce_decisions();
    create or replace trigger announce_changed after update on tacet.push_log referencing old table as previous new table as changed
      for each statement execute function tacet.announce_decisions();
  else
    drop trigger if exists announce_decided on tacet.push_log;
    drop trigger if exists announce_changed on tacet.push_log;
  end if;
end
$$;

-- The triggers on the ledger: events for rows whose decision is new, and checks for pushes of kinds that escalate. A part of the
-- record's transaction, so that neither exists without the other.
create or replace function tacet.announce_decisions()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  decided uuid[];
begin
  if tg_op = 'INSERT' then
    decided := array(select c.id from changed c where c.decision <> 'held');
  else
    decided := array(
      select c.id from changed c join previous p on p.id = c.id where c.decision <> 'held' and c.decision <> p.decision);
  end if;
  if decided = '{}' then
    return null;
  end if;
  insert into tacet.host_events (type, user_id, log_id, subject_id, kind, reason, sent_at)
  select a.event, c.user_id, c.id, c.subject_id, c.push_type, c.reason, c.sent_at
  from changed c
  join tacet.announcements a on a.event = 'push.' || c.decision and (a.kinds is null or c.push_type = any (a.kinds))
  where c.id = any (decided)
  order by c.user_id, c.enqueued_at;
  insert into tacet.unread_checks (due_at, log_id, user_id)
  select coalesce(c.sent_at, clock_timestamp()) + w.after, c.id, c.user_id
  from changed c
  join tacet.announcements a on a.event = 'push.unread' and (a.kinds is null or c.push_type = any (a.kinds))
  join tacet.escalations e on e.kind = c.push_type
  left join tacet.unread_preferences p on p.user_id = c.user_id and p.kind = c.push_type
  cross join lateral (select case when p.user_id is null then e.after else p.after end) as w (after)
  where c.id = any (decided) and c.decision = 'sent' and not c.opened and w.after is not null
  on conflict do nothing;
  return null;
end
$$;

-- Users who have a device with this address, that pushes go to.
create or replace function tacet.users_of_device(address text)
returns setof tacet.user_id
language sql stable
as $$
  select t.user_id from tacet.targets t where t.address = users_of_device.address and t.dropped_at is null
  union
  select o.user_id
  from tacet.device_token_owners(lower(users_of_device.address), 50) o
  where lower(o.device_token) = lower(users_of_device.address)
    and exists (
      select from tacet.device_tokens(o.user_id) d where lower(d.device_token) = lower(users_of_device.address))
$$;

-- Why the host need not know that each of these pushes is unread: it was opened, read, seen, deleted or cancelled, the user has left,
-- is gone or wants none, or the ledger has it no more. Null while it is unread.
create or replace function tacet.looked_at_because(log_ids uuid[])
returns table (log_id uuid, cause text)
language plpgsql stable
as $$
begin
  return query
  with push as materialized (
    select
      a.id as log_id, l.user_id, l.subject_id, l.push_type, l.enqueued_at,
      case
        when l.decision is distinct from 'sent' then 'not_kept'
        when l.opened then 'opened'
        when exists (select from tacet.erasures e where e.user_id = l.user_id) or not tacet.has_account(l.user_id) then 'user_gone'
        when exists (
          select from tacet.unread_preferences p where p.user_id = l.user_id and p.kind = l.push_type and p.after is null)
        then 'opted_out'
      end as cause
    from unnest(looked_at_because.log_ids) as a (id)
    left join tacet.push_log l on l.id = a.id
  )
  select p.log_id, p.cause from push p where p.cause is not null
  union all
  select
    p.log_id,
    case
      when e.push_kind is null or e.push_kind = 'message' and e.surface_id is null then 'deleted'
      when p.user_id = any (e.read_by) then 'read'
      when e.withheld is not null then e.withheld
      when v.user_id is null then 'left'
      when tacet.has_seen(v.last_seen, e.created_at, p.enqueued_at) then 'seen'
    end
  from push p
  left join lateral (select f.* from tacet.event_facts(p.push_type, p.subject_id) f limit 1) e on true
  left join lateral (
    select r.* from tacet.event_recipients(e.push_kind, p.push_type, p.subject_id, e.surface_id) r where r.user_id = p.user_id limit 1
  ) v on true
  where p.cause is null;
end
$$;

-- Whether a user who looked then has seen an event, as the gate judges it: a look from the future proves nothing.
create or replace function tacet.has_seen(last_seen timestamptz, dated_at timestamptz, enqueued_at timestamptz)
returns boolean
language sql stable
as $$
  select coalesce(
    last_seen <= now()
      and last_seen > greatest(case when dated_at > '-infinity' and dated_at <= now() then dated_at end, enqueued_at),
    false)
$$;

-- The same of one push; not_known if a function of the host fails.
create or replace function tacet.looked_at_because(log_id uuid)
returns text
language plpgsql stable
as $$
begin
  return (select l.cause from tacet.looked_at_because(array[log_id]) l);
exception
  when query_canceled then
    raise;
  when others then
    return 'not_known';
end
$$;

-- Looks at pushes that are due, at most checks_max. Each that is unread makes one event. Where a function of the host fails, the pushes
-- are looked at one by one, and the event of one that cannot be known is looked at again a minute later. Returns how many were due.
create or replace function tacet.check_unread(checks_max int)
returns bigint
language plpgsql volatile
as $$
declare
  due uuid[];
  causes text[];
begin
  with taken as (
    delete from tacet.unread_checks c
    where c.ctid = any (array(
      select d.ctid from tacet.unread_checks d where d.due_at <= (select clock_timestamp()) order by d.due_at limit checks_max
      for update skip locked))
    returning c.log_id, c.due_at
  )
  select coalesce(array_agg(t.log_id order by t.due_at), '{}') into due from taken t;
  begin
    causes := array(
      select l.cause
      from unnest(due) with ordinality as d (id, n)
      join tacet.looked_at_because(due) l on l.log_id = d.id
      order by d.n);
  exception
    when query_canceled then
      raise;
    when others then
      causes := array(select tacet.looked_at_because(d.id) from unnest(due) with ordinality as d (id, n) order by d.n);
  end;
  insert into tacet.host_events (type, user_id, log_id, subject_id, kind, sent_at, due_at)
  select
    'push.unread', l.user_id, l.id, l.subject_id, l.push_type, l.sent_at,
    clock_timestamp() + case when d.cause is null then interval '0' else interval '1 minute' end
  from unnest(due, causes) with ordinality as d (id, cause, n)
  join tacet.push_log l on l.id = d.id
  where d.cause is null or d.cause = 'not_known'
  order by d.n
  on conflict do nothing;
  return cardinality(due);
end
$$;

-- Claims the oldest event of each of at most events_max users, unless it is tried later. A push that was looked at since it was due
-- makes no event. One for which a function of the host fails is put off by a minute, for an hour.
create or replace function tacet.claim_host_events(events_max int, lease interval)
returns setof tacet.host_events
language plpgsql volatile
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
    continue when not pg_try_advisory_xact_lock(tacet.lock_of('host events ' || owner));
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
as $$
declare
  owner tacet.user_id;
  became text;
begin
  select e.user_id into owner from tacet.host_events e where e.id = event_id;
  perform pg_advisory_xact_lock(tacet.lock_of('host events ' || owner));
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

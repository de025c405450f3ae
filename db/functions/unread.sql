-- Pushes that nobody looks at: whether one was looked at, and what users want of push.unread.

-- Why the host need not know that each of these pushes is unread: it was opened, read, seen, deleted or cancelled, the user has left,
-- is gone or wants none, or the ledger has it no more. Null while it is unread.
create or replace function tacet.looked_at_because(log_ids uuid[])
returns table (log_id uuid, cause text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
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
      when m.conversation_id is null then 'deleted'
      when p.user_id = any (m.read_by) then 'read'
      when v.user_id is null then 'left'
      when tacet.has_seen(v.last_seen, m.created_at, p.enqueued_at) then 'seen'
    end
  from push p
  left join lateral (select c.* from tacet.message_context(tacet.message_of(p.subject_id)) c limit 1) m on true
  left join lateral (select s.* from tacet.seen_by(m.conversation_id) s where s.user_id = p.user_id limit 1) v on true
  where p.cause is null and p.push_type = 'message'
  union all
  select
    p.log_id,
    case
      when e.push_kind is null then 'deleted'
      when e.withheld is not null then e.withheld
      when v.user_id is null then 'left'
      when tacet.has_seen(v.last_seen, e.dated_at, p.enqueued_at) then 'seen'
    end
  from push p
  left join lateral (select c.* from tacet.event_content(p.push_type, p.subject_id) c limit 1) e on true
  left join lateral (
    select a.* from tacet.event_audience(e.push_kind, p.push_type, p.subject_id, e.surface_id) a where a.user_id = p.user_id limit 1
  ) v on true
  where p.cause is null and p.push_type <> 'message';
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
set search_path = pg_catalog, pg_temp
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
set search_path = pg_catalog, pg_temp
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

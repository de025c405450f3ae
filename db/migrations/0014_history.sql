-- What the ledger needs to say why a push came or did not: the claims behind each outcome, what ended each hold, and which
-- process did it.
--
-- Locks: ALTER TABLE takes ACCESS EXCLUSIVE on push_log and tacet.deliveries for an instant; the columns have constant
-- defaults, so nothing is rewritten. Services of an older version go on, and leave no history.

-- A JSON object for each claim that left a record, the oldest first; of a long story the first twenty and the newest
-- twenty. It holds ages, flags, reasons and the beginnings of device tokens, but no text and no name.
alter table public.push_log add column if not exists history jsonb not null default '[]';

-- What made a hold due before its time, and when; null while it is held, and when its time has come.
alter table tacet.deliveries add column if not exists released_at timestamptz;
alter table tacet.deliveries add column if not exists released_by text;

-- Processes of the service. The id is drawn at each start; histories name it. stopped_at: null while it runs, and when it
-- was killed; then seen_at grows old.
create table if not exists tacet.instances (
  started_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  stopped_at timestamptz,
  pid int not null,
  id text primary key,
  host text not null,
  version text not null
) with (fillfactor = 50, vacuum_truncate = off);

create index if not exists instances_seen_idx on tacet.instances (seen_at);

-- Makes held pushes due now, because something was learnt about them: subjects, users and causes, in arrays of one length.
-- The causes are read, seen, left, removed, deleted, preferences, review and host; the last of a trigger of the host's own.
--
-- Rows that are being claimed or recorded are left alone rather than waited for: the host's transaction comes first,
-- and the service looks once more at every hold soon after it has recorded it.
create or replace function tacet.release_holds(subject_ids uuid[], user_ids uuid[], causes text[])
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  update tacet.deliveries d
  set due_at = clock_timestamp(), released_at = clock_timestamp(), released_by = held.cause
  from (
    select h.subject_id, h.user_id, h.kind, r.cause
    from unnest(release_holds.subject_ids, release_holds.user_ids, release_holds.causes)
      as r (subject_id, user_id, cause)
    join tacet.deliveries h on h.subject_id = r.subject_id and h.user_id = r.user_id
    where h.state = 'held' and not h.is_claimed and h.due_at > clock_timestamp()
    for update of h skip locked
  ) held
  where d.subject_id = held.subject_id and d.user_id = held.user_id and d.kind = held.kind;
  if found then
    perform tacet.wake(null);
  end if;
end
$$;

-- The same for triggers that a host has made.
create or replace function tacet.release_holds(subject_ids uuid[], user_ids uuid[])
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select tacet.release_holds(
    release_holds.subject_ids, release_holds.user_ids,
    array_fill('host'::text, array[coalesce(cardinality(release_holds.subject_ids), 0)]))
$$;

-- As before, but that it tells the cause: left when a client says so, and removed when somebody takes part no more.
create or replace function tacet.release_concerned()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
set enable_seqscan = off
set jit = off
as $$
declare
  subjects uuid[];
  users uuid[];
  causes text[];
begin
  case tg_argv[0]
    when 'read' then
      select array_agg(d.subject_id), array_agg(d.user_id) into subjects, users
      from changed n
      join previous o on o.id = n.id
      join tacet.deliveries d on d.subject_id = n.id
      where d.state = 'held' and d.user_id = any (n.read_by) and not coalesce(d.user_id = any (o.read_by), false);
    when 'deleted' then
      select array_agg(d.subject_id), array_agg(d.user_id) into subjects, users
      from previous o
      join tacet.deliveries d on d.subject_id = o.id
      where d.state = 'held';
    when 'seen' then
      select
        array_agg(d.subject_id), array_agg(d.user_id),
        array_agg(
          case when n.left_at is distinct from o.left_at and n.left_at is not null then 'left' else 'seen' end)
      into subjects, users, causes
      from changed n
      join previous o on o.conversation_id = n.conversation_id and o.user_id = n.user_id
      join tacet.deliveries d on d.user_id = n.user_id and d.conversation_id = n.conversation_id
      where d.state = 'held' and (n.last_seen, n.left_at) is distinct from (o.last_seen, o.left_at);
    when 'left' then
      select array_agg(d.subject_id), array_agg(d.user_id) into subjects, users
      from previous o
      join tacet.deliveries d on d.user_id = o.user_id and d.conversation_id = o.conversation_id
      where d.state = 'held';
  end case;
  if subjects is not null then
    perform tacet.release_holds(
      subjects, users,
      coalesce(
        causes,
        array_fill(case tg_argv[0] when 'left' then 'removed' else tg_argv[0] end, array[cardinality(subjects)])));
  end if;
  return null;
exception
  when query_canceled or others then
    perform tacet.count_trigger_failure(sqlstate, sqlerrm);
    return null;
end
$$;

-- As before, but that it tells the cause.
create or replace function tacet.release_unwatched()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
set enable_seqscan = off
set jit = off
as $$
declare
  watched tacet.kinds;
  subjects uuid[];
  users uuid[];
begin
  select k.* into watched from tacet.kinds k where k.kind = tg_argv[0] and k.source = tg_relid;
  if not found then
    return null;
  end if;
  execute format(
    'select array_agg(d.subject_id), array_agg(d.user_id) '
    'from previous o join tacet.deliveries d on d.subject_id = o.%I where d.state = ''held'' and d.kind = $1',
    watched.id_column)
  into subjects, users
  using watched.kind;
  if subjects is not null then
    perform tacet.release_holds(subjects, users, array_fill('deleted'::text, array[cardinality(subjects)]));
  end if;
  return null;
exception
  when query_canceled or others then
    perform tacet.count_trigger_failure(sqlstate, sqlerrm);
    return null;
end
$$;

-- As before, but that it tells the cause.
create or replace function tacet.release_user(user_id uuid)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select tacet.release_holds(array_agg(d.subject_id), array_agg(d.user_id), array_agg('preferences'::text))
  from tacet.deliveries d
  where d.user_id = release_user.user_id and d.state = 'held'
  having count(*) > 0
$$;

-- As before, but that it tells the cause.
create or replace function tacet.view_surfaces(
  surface_kinds text[], surface_ids uuid[], user_ids uuid[], have_looked boolean[], have_left boolean[]
)
returns table (surface_kind text, surface_id uuid, user_id uuid, is_viewer boolean, is_skipped boolean)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  verdicts boolean[] := array(
    select tacet.may_view(r.surface_kind, r.surface_id, r.user_id)
    from unnest(view_surfaces.surface_kinds, view_surfaces.surface_ids, view_surfaces.user_ids)
      with ordinality as r (surface_kind, surface_id, user_id, place)
    order by r.place);
  skipped bigint[];
begin
  with wanted as materialized (
    select r.*, v.user_id is not null as is_known
    from unnest(
      view_surfaces.surface_kinds, view_surfaces.surface_ids, view_surfaces.user_ids, view_surfaces.have_looked,
      view_surfaces.have_left, verdicts
    ) with ordinality as r (surface_kind, surface_id, user_id, has_looked, has_left, is_viewer, place)
    left join lateral (
      select x.user_id, x.last_seen, x.left_at
      from tacet.surface_views x
      where x.user_id = r.user_id and x.surface_id = r.surface_id and x.surface_kind = r.surface_kind
      limit 1
    ) v on true
    where r.is_viewer
      and (
        r.has_left
        or v.last_seen is null
        or v.last_seen not between clock_timestamp() - tacet.presence_repeats_within() and clock_timestamp()
        or v.left_at >= v.last_seen
        or exists (
          select from tacet.deliveries d
          where d.user_id = r.user_id and d.conversation_id = r.surface_id and d.state = 'held'
        )
      )
  ), locked as materialized (
    select w.*, not w.is_known or x.is_locked is true as is_free
    from wanted w
    left join lateral (
      select true as is_locked
      from tacet.surface_views x
      where x.user_id = w.user_id and x.surface_id = w.surface_id and x.surface_kind = w.surface_kind
      for no key update skip locked
    ) x on true
  ), written as (
    insert into tacet.surface_views as v (surface_kind, surface_id, user_id, last_seen, left_at)
    select
      l.surface_kind, l.surface_id, l.user_id, case when l.has_looked then clock_timestamp() end,
      case when l.has_left then clock_timestamp() end
    from locked l
    where l.is_free
    order by l.user_id, l.surface_id, l.surface_kind
    on conflict on constraint surface_views_pkey do update
    set
      last_seen = case when excluded.last_seen is null then v.last_seen else clock_timestamp() end,
      left_at = case when excluded.left_at is not null then clock_timestamp() end
  )
  select coalesce(array_agg(l.place) filter (where not l.is_free), '{}') into skipped from locked l;

  perform tacet.release_holds(held.subject_ids, held.user_ids, held.causes)
  from (
    select
      array_agg(d.subject_id) as subject_ids, array_agg(d.user_id) as user_ids,
      array_agg(case when r.has_left then 'left' else 'seen' end) as causes
    from unnest(view_surfaces.surface_ids, view_surfaces.user_ids, view_surfaces.have_left, verdicts)
      with ordinality as r (surface_id, user_id, has_left, is_viewer, place)
    join tacet.deliveries d on d.user_id = r.user_id and d.conversation_id = r.surface_id
    where r.is_viewer and r.place <> all (skipped) and d.state = 'held'
    having count(*) > 0
  ) held;

  return query
    select r.surface_kind, r.surface_id, r.user_id, r.is_viewer, r.place = any (skipped)
    from unnest(view_surfaces.surface_kinds, view_surfaces.surface_ids, view_surfaces.user_ids, verdicts)
      with ordinality as r (surface_kind, surface_id, user_id, is_viewer, place);
end
$$;

-- Gives every service with a role of its own what a migration has made; the last act of each that makes something.
create or replace function tacet.grant_services()
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  grantee regrole;
begin
  for grantee in
    select a.grantee
    from pg_proc p, aclexplode(p.proacl) a
    where p.oid = 'tacet.invalidate_device_token(text, text, timestamptz)'::regprocedure
      and a.privilege_type = 'EXECUTE' and a.grantee not in (0, p.proowner)
  loop
    perform tacet.grant_service(grantee);
  end loop;
end
$$;

revoke all on all functions in schema tacet from public;

do $$
begin
  perform tacet.grant_services();
end
$$;

insert into tacet.migrations (version, name) values (14, '0014_history') on conflict do nothing;

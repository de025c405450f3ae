-- What the doctor asks about the server, Tacet's schema and its work.

-- name: examine_server
-- Returns the server's version and state, and the role of the session.
--
-- About all statements in this folder: `tacet doctor` runs them. They only read, within bounds that do not follow the
-- sizes of tables. Where rows are counted, up to 10000 are looked at (ExaminedBacklog.rowsMax); more mean "at
-- least".

select
  current_setting('server_version_num')::bigint as version, pg_is_in_recovery() as is_standby,
  -- The transaction itself only reads; this is what other ones are given.
  current_setting('default_transaction_read_only')::bool as is_read_only,
  pg_backend_pid()::bigint as backend_id, current_user::text as role,
  current_setting('session_replication_role') as replication_role;

-- name: examine_clock
-- Returns the server's wall clock, in microseconds since 1970.

select (extract(epoch from clock_timestamp()) * 1000000)::bigint;

-- name: examine_rights
-- Returns the rights that the role lacks: in schema `tacet` what `tacet.grant_service` grants; on the host's tables
-- what those functions need that name the table and run with the role's rights. Asks the catalogs by number, which needs no right.
--
-- Functions of campaigns are left out, because the look at campaigns calls those that are used (examine_campaign).

with own as (
  select n.oid from pg_namespace n where n.nspname = 'tacet'
), host as (
  select c.oid, c.relname, c.relnamespace
  from pg_class c
  where c.relnamespace = (select n.oid from pg_namespace n where n.nspname = 'public')
), wanted (name, privileges, columns) as (
  select x.name, x.privileges, x.columns
  from (
    values
      ('messages', '', array['select'], '{}'::text[]),
      ('messages', 'mark_read', '{}', array['read_by']),
      ('conversation_participants', '', array['select'], '{}'),
      ('conversation_participants', 'view_conversations', '{}', array['last_seen', 'tacet_left_at']),
      ('profiles', '', array['select'], '{}'),
      ('conversations', '', array['select'], '{}'),
      ('push_tokens', '', array['select'], '{}'),
      ('push_tokens', 'register_device', array['insert', 'update', 'delete'], '{}')
  ) as x (name, function, privileges, columns)
  where exists (
    -- include: who_names_it
      and not p.prosecdef and (x.function = '' or p.proname = x.function)
  )
), policed (name, command, policy) as (
  select w.name, c.command, c.policy
  from wanted w
  join (
    values
      ('r', 'select', 'policy'), ('a', 'insert', 'policy for insert'), ('w', 'update', 'policy for update'),
      ('d', 'delete', 'policy for delete')
  ) as c (command, privilege, policy) on c.privilege = any (w.privileges) or (c.command = 'w' and w.columns <> '{}')
)
select 'schema ' || n.nspname as object, 'usage' as privilege, n.nspname = 'tacet' as is_own
from pg_namespace n
where n.nspname in ('tacet', 'public') and not has_schema_privilege(n.oid, 'usage')
union all
select format('tacet.%I', c.relname), p.privilege, true
from pg_class c
cross join unnest(
  case
    when c.relname = 'settings' then '{}'
    when c.relname in ('kinds', 'push_kinds', 'campaigns', 'default_bodies', 'function_files', 'host_additions', 'activity_types',
      'watched_activities', 'texts', 'announcements', 'escalations', 'erasures', 'migrations', 'notif_config', 'time_zones')
      then array['select']
    else array['select', 'insert', 'update', 'delete']
  end
) as p (privilege)
where c.relnamespace = (select oid from own) and c.relkind = 'r' and not has_table_privilege(c.oid, p.privilege)
union all
select 'tacet.settings', format('%s (%I)', p.privilege, a.attname), true
from pg_attribute a
cross join unnest(array['select', 'update']) as p (privilege)
where a.attrelid = to_regclass('tacet.settings') and not a.attisdropped
  and (
    (p.privilege = 'select' and a.attname in ('notify_enabled', 'webhook_url', 'has_webhook_secret',
      'database_identity'))
    or a.attname = 'listening_until')
  and not has_column_privilege(a.attrelid, a.attnum, p.privilege)
union all
select format('tacet.%I', c.relname), 'policy', true
from pg_class c
where c.relnamespace = (select oid from own) and c.relkind = 'r' and row_security_active(c.oid) and not exists (
  select from pg_policy p
  where p.polrelid = c.oid and (p.polcmd = '*' or c.relname <> 'push_log')
    and exists (select from unnest(p.polroles) as r (oid) where r.oid = 0 or pg_has_role(r.oid, 'usage'))
)
union all
select format('function tacet.%I', p.proname), 'execute', true
from pg_proc p
where p.pronamespace = (select oid from own) and p.prokind = 'f' and p.prorettype <> 'trigger'::regtype
  and p.proname not in (
    'watch', 'unwatch', 'watch_activity', 'unwatch_activity', 'localise', 'unlocalise', 'announce',
    'grant_service', 'grant_services', 'close_table', 'adopt_database')
  and not has_function_privilege(p.oid, 'execute')
union all
select format('public.%I', w.name), p.privilege, false
from wanted w
join host h on h.relname = w.name
cross join unnest(w.privileges) as p (privilege)
where not has_table_privilege(h.oid, p.privilege)
union all
select format('public.%I', w.name), format('update (%I)', a.attname), false
from wanted w
join host h on h.relname = w.name
join pg_attribute a on a.attrelid = h.oid and a.attname = any (w.columns) and not a.attisdropped
where not has_column_privilege(h.oid, a.attnum, 'update')
union all
select format('public.%I', w.name), w.policy, false
from policed w
join host h on h.relname = w.name
where row_security_active(h.oid) and not exists (
  select from pg_policy p
  where p.polrelid = h.oid and (p.polpermissive or w.command = 'r') and p.polcmd::text in ('*', w.command)
    and exists (select from unnest(p.polroles) as r (oid) where r.oid = 0 or pg_has_role(r.oid, 'usage'))
)
order by 3 desc, 1, 2;

-- name: examine_contract_tables
-- Returns the tables of the default host that default functions of the contract read. A host with other tables has none of
-- these, also where one has such a name and functions of the host's own read it; a view has no indexes and triggers that could be
-- missing. Functions of campaigns do not count.

select x.name
from unnest('{messages,conversation_participants,push_tokens,profiles,conversations}'::text[]) as x (name)
join pg_class c on c.oid = to_regclass('public.' || x.name) and c.relkind in ('r', 'p')
where exists (
  -- include: who_names_it
      and tacet.is_default(p.oid)
);

-- name: examine_migrations(versions integer[], texts text[])
-- Compares files of db/migrations with what was applied. Returns the names of those that were applied with another text.

select m.name
from unnest(:versions, :texts) as f (version, text)
join tacet.migrations m on m.version = f.version
where m.checksum <> md5(f.text)
order by m.version;

-- name: examine_function_files(names text[], texts text[], hidden text[])
-- Compares files of db/functions with what was applied last. Returns those that differ: their places from 0, their checksums.
--
-- hidden: what hides rows of the host: documents of tacet.hidden_rows and tacet.block_tables of this program.
--
-- The checksum of a file whose functions are fitted to the host's tables, by tacet.provide or tacet.fitted, also covers which
-- tables and columns that it names are there, and where it asks what hides rows, :hidden. The functions may not exist yet.

with files as (
  select f.place, f.name, md5(f.text || coalesce(t.facts, '') || coalesce(h.facts, '')) as checksum
  from unnest(:names, :texts) with ordinality as f (name, text, place)
  cross join lateral (
    select string_agg(distinct m.relation || coalesce('.' || m.mark, ''), ' ') as facts
    from (
      select x.found[1] as relation, x.found[2] as mark
      from regexp_matches(f.text, ' -- (?:if|unless) (\w+)\.(\w+)$', 'gn') as x (found)
      union all
      select x.found[1], null
      from regexp_matches(f.text, 'public\.(\w+)', 'g') as x (found)
      where f.text ~ 'call tacet.provide'
    ) m
    join pg_class c on c.relname = m.relation
    join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
    where m.mark is null
      or m.mark = 'partitioned' and c.relkind = 'p'
      or exists (
        select from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
          and (a.attname = m.mark or a.attname || '_unzoned' = m.mark and a.atttypid = 'timestamp'::regtype)
      )
  ) t
  cross join lateral (
    select string_agg(x.document, '' order by x.place) as facts
    from unnest(:hidden) with ordinality as x (document, place)
    cross join lateral (select x.document::jsonb as known) d
    where d.known ->> 'place' <> 'block' and strpos(f.text, format(' -- if %s.shown', d.known ->> 'table')) > 0
      or coalesce(d.known ->> 'place', 'block') = 'block' and f.name = 'contract_blocks'
  ) h
)
select f.place::int - 1 as place, f.checksum
from files f
left join tacet.function_files a on a.name = f.name
where a.checksum is distinct from f.checksum
order by f.place;

-- name: examine_inert_functions
-- Returns the functions of the host contract that are inert, because the host has no table for their defaults; see
-- tacet.provide.

select p.proname::text
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
where n.nspname = 'tacet' and p.prosrc like '% -- inert'
order by 1;

-- name: examine_trigger_failures
-- Returns errors that triggers swallowed during the last day, by SQLSTATE and kind. Their texts may quote rows.

select f.sqlstate as sql_state, f.kind, count(*) as failures,
  tacet.unix_us(clock_timestamp()) - tacet.unix_us(max(f.failed_at)) as age
from (
  select t.sqlstate, t.kind, t.failed_at
  from tacet.trigger_failures t
  where t.failed_at > clock_timestamp() - interval '1 day'
  order by t.failed_at desc
  limit 10000
) f
group by 1, 2
order by 4
limit 20;

-- name: examine_backlog
-- Counts what waits, and returns for how long it is overdue, in microseconds. A message that its owner has in hand is still one
-- that waits.

select
  (select count(*) from (select from tacet.inbox i limit 10000) n) as events,
  tacet.unix_us(clock_timestamp()) - tacet.unix_us(least(
    (select greatest(i.available_at, i.enqueued_at)
      from tacet.inbox i where not i.is_claimed order by i.available_at limit 1),
    (select min(i.available_at) from tacet.inbox i where i.is_claimed))) as event_overdue,
  tacet.unix_us(clock_timestamp())
    - tacet.unix_us((select min(d.due_at) from tacet.deliveries d where d.state <> 'waiting')) as delivery_overdue,
  (select count(*) from (select from tacet.deliveries d where d.state = 'waiting' limit 10000) n)
    as waiting,
  tacet.unix_us(clock_timestamp()) - tacet.unix_us((
    select min(d.enqueued_at)
    from (select w.enqueued_at from tacet.deliveries w where w.state = 'waiting'
      order by w.lane, w.enqueued_at limit 10000
    ) d
  )) as waiting_age,
  (select count(*) from (select from tacet.parked p limit 10000) n) as parked;

-- name: examine_erasures
-- Returns how many deleted users are not erased ten minutes later, and how long ago the first was deleted, in
-- microseconds. No row without any.

select count(*) as users, tacet.unix_us(clock_timestamp()) - tacet.unix_us(min(o.asked_at)) as age
from (
  select e.asked_at
  from tacet.erasures e
  where not e.is_clean and e.asked_at < clock_timestamp() - interval '10 min'
  order by e.due_at
  limit 10000
) o
having count(*) > 0;

-- name: examine_kinds
-- Returns the triggers that each watched kind, and each watched table of Live Activities, must have; a null state for one that is
-- missing. The kind of the latter is `activity:` and the type.

with expected as (
  select k.kind, k.source, tacet.watch_trigger_name(k.kind, h.name) as name
  from tacet.kinds k
  cross join (values ('happened'), ('deleted')) as h (name)
  union all
  select 'activity:' || w.type, w.source, tacet.watch_trigger_name(lower(w.type), 'activity_' || h.name)
  from tacet.watched_activities w
  cross join (values ('insert'), ('update'), ('delete')) as h (name)
)
select e.kind, e.source::text as table, e.name::text as name, t.tgenabled::text as state, '' as function, '' as argument
from expected e
left join pg_trigger t on t.tgrelid = e.source and t.tgname = e.name
order by 1, 3
limit 1000;

-- name: examine_sealing_keys
-- Counts the devices that have registered a key to seal content for; of the first 200000 registrations.

select
  (
    select count(*)
    from (select x.wishes from tacet.target_wishes x limit 20 * 10000) w
    where w.wishes like '%"sealing_key"%'
  ) + (
    select count(*)
    from (select x.keys, x.dropped_at from tacet.targets x limit 20 * 10000) t
    where t.keys like '%"sealing_key"%' and t.dropped_at is null
  ) as keys;

-- name: examine_activity_types
-- Returns the types of Live Activities with what is wrong with them, or null.

select t.name, tacet.live_activity_type_fault(t) as fault from tacet.activity_types t order by t.name limit 1000;

-- name: examine_webhook
-- Returns what the triggers do besides the inbox row, and whether they can.

select
  s.notify_enabled as is_notify_enabled, s.webhook_url is not null as has_url, s.has_webhook_secret as has_secret,
  tacet.has_http_post() as has_function,
  coalesce((
    select has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select')
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'net' and c.relname = 'http_request_queue'
  ), false) as reads_queue,
  -- A trigger of the host beside ours, such as a database webhook of Supabase.
  (
    select min(t.tgname)
    from pg_trigger t
    join pg_proc p on p.oid = t.tgfoid
    where not t.tgisinternal and t.tgenabled <> 'D' and p.pronamespace <> 'tacet'::regnamespace
      and p.prosrc ~ 'http_(request|post)'
      and t.tgrelid in (
        select o.tgrelid from pg_trigger o where o.tgfoid = to_regproc('tacet.enqueue_inserted_messages'))
  )::text as host_trigger
from tacet.settings s;

-- name: examine_webhook_queue
-- Returns how many requests wait in the queue of pg_net, up to 1000, and the number of the first.
--
-- Runs only where examine_webhook has found that table.

select count(*) as requests, min(q.id)::bigint as first
from (select r.id from net.http_request_queue r order by r.id limit 1000) q;

-- name: examine_texts
-- Returns the texts of kinds in other locales that no event can show as they were meant: the kind is not watched any more, or its own
-- texts have a column no more that the text has.

select
  t.kind, t.locale, k.kind is null as is_unwatched,
  (
    select p.part[1]
    from regexp_matches(
      concat_ws(
        ' ', t.title, t.subtitle, t.body, '{' || t.counted || '}',
        (select string_agg(w.value, ' ') from jsonb_each(t.plural) f, jsonb_each_text(f.value) w)),
      '\{([^{}]+)\}', 'g') as p (part)
    where not p.part[1] = any (k.placeholders) and (k.actor_column is null or p.part[1] <> 'actor')
    limit 1
  ) as missing_column
from tacet.texts t
left join tacet.kinds k on k.kind = t.kind
where t.kind not in ('tacet_new_message', 'tacet_new_notification', 'tacet_more')
order by 1, 2
limit 3000;

-- name: examine_campaign(campaign text)
-- Calls the functions of a campaign for a user who does not exist.

select
  (
    select count(*)
    from tacet.campaigns c
    cross join lateral tacet.campaign_page(c, clock_timestamp(), only_user => tacet.lowest_user_id())
    where c.name = :campaign and c.is_active
  ),
  (
    select count(*)
    from tacet.sessions_between(tacet.lowest_user_id(), clock_timestamp(), clock_timestamp())
  ),
  tacet.campaign_material(:campaign, tacet.lowest_user_id()) is null;

-- name: examine_campaign_work(minutes integer)
-- Counts hours that were not served, in zones where users lived in the last days; undecided users; and decisions that failed.
--
-- minutes: minutes after midnight, where a campaign names no time.

select
  (
    select count(*)
    from tacet.campaigns c
    cross join lateral tacet.due_hours(c.name, time '00:00' + :minutes * interval '1 minute') d
    where d.due_at < clock_timestamp() - interval '10 minutes'
      and exists (
        select from tacet.campaign_runs r
        where r.campaign = c.name and r.cause = 'schedule' and r.due_at > clock_timestamp() - interval '8 days'
          and r.zones && d.zones)
  ) as unserved_hours,
  (
    select count(*)
    from (
      select from tacet.occasions d
      where not d.has_slot and d.status in ('scheduled', 'armed') and d.available_at < 'infinity'
        and d.available_at < clock_timestamp() - interval '10 minutes'
      limit 10000
    ) n
  ) as undecided,
  (
    select count(*)
    from (
      select d.status
      from tacet.occasions d
      where d.fire_at > clock_timestamp() - interval '1 day' and d.fire_at <= clock_timestamp()
      order by d.fire_at desc
      limit 10000
    ) n
    where n.status = 'failed'
  ) as failed;

-- name: examine_model_usage
-- Returns what language models have used today, and what is reserved.

select
  coalesce(sum(u.input_tokens + u.output_tokens + u.reserved_tokens), 0)::bigint as tokens,
  coalesce(sum(u.cost_microdollars + u.reserved_microdollars), 0)::bigint as microdollars
from tacet.model_usage u
where u.day = (clock_timestamp() at time zone 'UTC')::date;

-- part: who_names_it
    -- Those that count for the default of tacet.unread_count, only where that is not replaced.
    select from pg_proc p
    where p.pronamespace = (select n.oid from pg_namespace n where n.nspname = 'tacet') and p.prorettype <> 'trigger'::regtype
      and p.proname not in (
        'rehearse_message', 'fit_triggers', 'check_in_audience', 'check_in_material', 'sessions_between', 'ritual_audience',
        'engagement_preferences')
      and (
        p.proname not in ('count_unread', 'unread_counts', 'move_unread_marks')
        or exists (
          select from pg_proc d
          where d.pronamespace = p.pronamespace and d.proname = 'unread_count' and strpos(d.prosrc, 'tacet.count_unread') > 0))
      and strpos(p.prosrc, 'public.' || x.name) > 0

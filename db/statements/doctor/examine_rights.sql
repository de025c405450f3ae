-- Returns the rights that the role lacks: in schema `tacet` what `tacet.grant_service` grants; on the host's tables
-- what those functions need that name the table and run with the role's rights. Asks the catalogs by number, which needs no right.
--
-- Functions of campaigns are left out, because the look at campaigns calls those that are used (examine_campaign). So are those that
-- count for the default of tacet.unread_count, where that is replaced.

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
    select
    from pg_proc p
    where p.pronamespace = (select oid from own) and not p.prosecdef and p.prorettype <> 'trigger'::regtype
      and p.proname not in (
        'rehearse_message', 'fit_triggers', 'erase_users', 'note_gone_users', 'check_in_audience', 'check_in_material',
        'sessions_between', 'ritual_audience', 'engagement_preferences')
      and (
        p.proname not in ('count_unread', 'unread_counts', 'move_unread_marks')
        or exists (
          select
          from pg_proc d
          where d.pronamespace = p.pronamespace and d.proname = 'unread_count' and strpos(d.prosrc, 'tacet.count_unread') > 0))
      and (x.function = '' or p.proname = x.function) and strpos(p.prosrc, 'public.' || x.name) > 0
  )
), policed (name, command, privilege) as (
  select w.name, c.command, c.privilege
  from wanted w
  join (values ('a', 'insert'), ('w', 'update'), ('d', 'delete')) as c (command, privilege)
    on c.privilege = any (w.privileges) or (c.command = 'w' and w.columns <> '{}')
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
  select
  from pg_policy p
  where p.polrelid = c.oid and (p.polcmd = '*' or c.relname <> 'push_log')
    and exists (select from unnest(p.polroles) as r (oid) where r.oid = 0 or pg_has_role(r.oid, 'usage'))
)
union all
select format('function tacet.%I', p.proname), 'execute', true
from pg_proc p
where p.pronamespace = (select oid from own) and p.prokind = 'f' and p.prorettype <> 'trigger'::regtype
  and p.proname not in (
    'watch', 'unwatch', 'watch_activity', 'unwatch_activity', 'localise', 'unlocalise', 'announce', 'announce_nothing',
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
select format('public.%I', w.name), 'policy', false
from wanted w
join host h on h.relname = w.name
where 'select' = any (w.privileges) and row_security_active(h.oid) and not exists (
  select
  from pg_policy p
  where p.polrelid = h.oid and p.polcmd in ('*', 'r')
    and exists (select from unnest(p.polroles) as r (oid) where r.oid = 0 or pg_has_role(r.oid, 'usage'))
)
union all
select format('public.%I', w.name), 'policy for ' || w.privilege, false
from policed w
join host h on h.relname = w.name
where row_security_active(h.oid) and not exists (
  select
  from pg_policy p
  where p.polrelid = h.oid and p.polpermissive and p.polcmd::text in ('*', w.command)
    and exists (select from unnest(p.polroles) as r (oid) where r.oid = 0 or pg_has_role(r.oid, 'usage'))
)
order by 3 desc, 1, 2;

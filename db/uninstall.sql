-- Takes Tacet out of a database: psql -X -f db/uninstall.sql, as the role that migrated. Stop the service before.
--
-- Dropped: schema tacet with everything in it, the view public.push_log, the triggers on the host's tables, the policies that
-- tacet.grant_service made there, and the columns, indexes and storage settings that the migrations added, with their data.
-- Kept: the host's tables and rows, also in tables that --create-host-tables made, whose comment goes; columns and indexes that
-- the host had before; roles and their grants. A view, policy or default of the host that depends on schema tacet stops it, and
-- then nothing is dropped.
--
-- For a database that was first migrated before version 27 it is unknown what was added. Its columns and indexes stay, and a
-- notice has the line that drops each.

\set ON_ERROR_STOP on
begin;
set local lock_timeout = '2s';

do $$
declare
  dependents text;
  found record;
begin
  if to_regclass('tacet.host_additions') is null then
    raise exception 'schema tacet is not installed, or older than version 27: migrate first';
  end if;

  if to_regclass('tacet.push_log') is null then
    drop table public.push_log;
  elsif obj_description(to_regclass('public.push_log'), 'pg_class') = 'Created by tacet migrate.' then
    drop view public.push_log;
  end if;

  for found in
    select t.tgname, t.tgrelid::regclass as source
    from pg_trigger t
    join pg_proc p on p.oid = t.tgfoid
    where p.pronamespace = 'tacet'::regnamespace and not t.tgisinternal and t.tgparentid = 0
  loop
    execute format('drop trigger %I on %s', found.tgname, found.source);
  end loop;

  select string_agg(distinct pg_describe_object(d.classid, d.objid, d.objsubid), ', ') into dependents
  from pg_depend d
  cross join lateral pg_identify_object(d.refclassid, d.refobjid, d.refobjsubid) used
  cross join lateral pg_identify_object(d.classid, d.objid, d.objsubid) user_object
  where used.schema = 'tacet' and user_object.schema is distinct from 'tacet'
    and d.deptype = 'n' and user_object.identity !~ '\mtacet\.';
  if dependents is not null then
    raise exception 'these use schema tacet: %', dependents using hint = 'Drop or change them, then uninstall again.';
  end if;

  for found in
    select c.oid::regclass as source, y.polname
    from pg_class c
    left join pg_policy y on y.polrelid = c.oid and y.polname = any (array(
      select left('service ' || r.oid::regrole, 63) from pg_roles r where r.oid = any (y.polroles)))
    where c.relnamespace = 'public'::regnamespace
      and obj_description(c.oid, 'pg_class') = 'Created by tacet migrate --create-host-tables.'
  loop
    if found.polname is not null then
      execute format('drop policy %I on %s', found.polname, found.source);
    end if;
    execute format('comment on table %s is null', found.source);
  end loop;

  for found in
    select
      n.noted is not null as is_ours,
      case k.place
        when 1 then format('drop index public.%I', k.name)
        when 2 then format('alter table public.%I drop column %I', k.relation, k.name)
        else format(
          'alter table public.%I reset (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, '
          'autovacuum_vacuum_cost_delay)', k.relation)
      end as line
    from (
      values
        (1, 'index', 'conversation_participants', 'conversation_participants_last_seen_idx'),
        (1, 'index', 'conversation_participants', 'conversation_participants_user_idx'),
        (1, 'index', 'messages', 'messages_conversation_idx'),
        (1, 'index', 'push_tokens', 'push_tokens_user_idx'),
        (1, 'index', 'push_tokens', 'push_tokens_spelling_idx'),
        (1, 'index', 'push_tokens', 'push_tokens_dropped_idx'),
        (2, 'column', 'conversation_participants', 'last_seen'),
        (2, 'column', 'conversation_participants', 'left_at'),
        (2, 'column', 'push_tokens', 'registered_at'),
        (2, 'column', 'push_tokens', 'invalidated_at'),
        (2, 'column', 'push_tokens', 'environment'),
        (2, 'column', 'push_tokens', 'app'),
        (2, 'column', 'push_tokens', 'invalidation_reason'),
        (2, 'column', 'push_tokens', 'locale'),
        (2, 'column', 'push_tokens', 'time_zone'),
        (3, 'storage', 'conversation_participants', 'autovacuum')
    ) as k (place, kind, relation, name)
    left join lateral (
      select true as noted
      from tacet.host_additions a
      where a.relation = k.relation and a.kind = k.kind and a.name = k.name
    ) n on true
    where case k.place
        when 1 then to_regclass(format('public.%I', k.name)) is not null
        when 2 then exists (
          select
          from pg_attribute a
          where a.attrelid = to_regclass(format('public.%I', k.relation)) and a.attname = k.name and not a.attisdropped)
        else to_regclass(format('public.%I', k.relation)) is not null
      end
      and (n.noted or exists (select from tacet.migrations m where m.version = 1 and m.name = '0001_host_tables'))
    order by k.place
  loop
    if found.is_ours then
      execute found.line;
    else
      raise notice 'tacet: unless it is the host''s: %;', found.line;
    end if;
  end loop;
end
$$;

set local client_min_messages = warning;
drop schema tacet cascade;
commit;

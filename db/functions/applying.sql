-- How the other files are applied. Files are applied in the order of their names: this one is the first, and what defaults of
-- the host contract call comes before contract_*.
--
-- A function runs with the search path of its caller. The service and tacet migrate have pg_catalog, pg_temp in their sessions. What
-- others may call sets it: triggers, functions with their owner's rights, and those that hosts and operators call.

-- Registers a kind of push, or replaces its functions. event_kind: the kind of its events; null where hosts or servers name them.
create or replace procedure tacet.register_kind(name text, event_kind text, content text, audience text)
language plpgsql
as $$
begin
  insert into tacet.push_kinds as k (name, event_kind, content, audience)
  values (register_kind.name, register_kind.event_kind, register_kind.content, register_kind.audience)
  on conflict on constraint push_kinds_pkey do update
  set event_kind = excluded.event_kind, content = excluded.content, audience = excluded.audience;
  call tacet.join_kinds();
end
$$;

-- Writes the two functions that ask all kinds. They are SQL with a branch for each function of a kind, so that the planner makes them
-- a part of the statements that ask for many events: a call that looks for the kind first takes several times as long.
--
-- tacet.event_content: what the rules and the composer need of one event, by the function of its kind: that of its name, else the
-- first one that knows it. tacet.event_audience: the recipients of one event of a kind, each once, and when each last looked at its
-- surface; none for a null kind.
create or replace procedure tacet.join_kinds()
language plpgsql
set check_function_bodies = off
as $$
declare
  contents text;
  audiences text;
begin
  select string_agg(
    format(
      $branch$
  select
    %1$L, c.surface_id, c.actor_id, c.dated_at, (extract(epoch from c.life) * 1000000)::bigint, c.quiet_policy,
    c.excluded_device, c.withheld, coalesce(c.is_silent, false), coalesce(c.content, '{}')::text
  from %2$s(event_content.event_kind, event_content.subject_id) c
  where %3$s$branch$,
      k.name, k.content,
      case
        when k.event_kind is not null then format('event_content.event_kind = %L', k.event_kind)
        else format('event_content.event_kind <> all (%L)', array(
          select n.event_kind from tacet.push_kinds n where n.event_kind is not null order by n.event_kind))
      end),
    e'\n  union all' order by k.event_kind, k.name)
  into contents
  from tacet.push_kinds k;
  select string_agg(
    format(
      $branch$
  select c.user_id, c.last_seen, c.left_at
  from %s(event_audience.event_kind, event_audience.subject_id, event_audience.surface_id) c
  where event_audience.push_kind = any (%L)$branch$,
      a.audience, a.names),
    e'\n  union all' order by a.audience)
  into audiences
  from (
    select k.audience, array_agg(k.name order by k.name) as names from tacet.push_kinds k group by k.audience
  ) a;
  execute format(
    $definition$
create or replace function tacet.event_content(event_kind text, subject_id tacet.subject_id)
returns table (
  push_kind text, surface_id tacet.conversation_id, actor_id tacet.user_id, dated_at timestamptz, life_us bigint,
  quiet_policy text, excluded_device text, withheld text, is_silent boolean, content text
)
language sql stable rows 1
as %L
    $definition$, contents || e'\n  limit 1\n');
  execute format(
    $definition$
create or replace function tacet.event_audience(
  push_kind text, event_kind text, subject_id tacet.subject_id, surface_id tacet.conversation_id
)
returns setof tacet.push_recipient
language sql stable rows 10
as %L
    $definition$, audiences || e'\n');
end
$$;

-- Makes way for a function of another signature: drops the one that is installed. Where views, policies, triggers or defaults
-- depend on it, it is renamed instead, and they keep using it.
--
-- signature: as 'seen_by(uuid)'. result: of the new function, as pg_get_function_result writes it; a function with that result
-- already is left alone. Null when the arguments differ, or when there is no new function.
create or replace procedure tacet.retire(signature text, result text default null)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  installed regprocedure := to_regprocedure('tacet.' || signature);
  retired name;
begin
  if installed is null or pg_get_function_result(installed) = result then
    return;
  end if;
  begin
    execute format('drop function %s', installed);
  exception
    when dependent_objects_still_exist then
      retired := format('%s_retired_%s', left(split_part(signature, '(', 1), 40), installed::oid);
      execute format('alter function %s rename to %I', installed, retired);
      raise notice 'tacet: % is replaced; what depends on it now uses tacet.%', signature, retired;
  end;
end
$$;

-- A definition for the tables that the host has in schema public. A line that ends with `-- if FACT` stays where the fact is
-- true, one with `-- unless FACT` where it is not. FACT: `messages.deleted_at` for a column, `messages.created_at_unzoned` for
-- one of type timestamp, without a time zone, `messages.partitioned` for a partitioned table, `messages.shown` where columns
-- say that rows are hidden (tacet.hidden_rows). In the line of the last, shown(m) is the condition that a row is not,
-- present(m) the same without what a member only wishes, and columns(m) names what both read. What stays loses its mark, so a
-- host without the column has the same body as without the line.
--
-- tacet migrate applies a file again when the facts in it change (the statement examine_function_files reads them the same way).
create or replace function tacet.fitted(definition text)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with hidden as materialized (
    select c.relname, r.place, r.column_name, r.before, r.after, r.is_wish
    from tacet.hidden_rows('{messages,conversation_participants,profiles}') r
    join pg_class c on c.oid = r.relation and c.relnamespace = 'public'::regnamespace
    where strpos(definition, '.shown') > 0 and r.before is not null
  )
  select string_agg(
    case
      when x.word[4] is not null then
        replace(replace(replace(x.line, x.word[1], h.shown), x.word[2], h.present), x.word[3], h.columns)
      else x.line
    end, e'\n' order by x.place)
  from (
    select
      l.place, regexp_match(l.line || ' -- if .', ' -- (if|unless) (\w*)\.(\w*)') as mark,
      regexp_replace(l.line, ' -- (if|unless) \w+\.\w+$', '') as line,
      (
        select array['shown(' || a.alias || ')', 'present(' || a.alias || ')', 'columns(' || a.alias || ')', a.alias]
        from substring(l.line from '(?:shown|present|columns)\((\w+)\)') as a (alias)
      ) as word
    from string_to_table(definition, e'\n') with ordinality as l (line, place)
  ) x
  left join lateral (
    select
      '(' || string_agg(y.condition, ' and ') || ')' as shown,
      coalesce('(' || string_agg(y.condition, ' and ') filter (where not y.is_wish) || ')', 'true') as present,
      string_agg(y.column_name, ', ') as columns
    from (
      select
        format('%s%s.%I%s', r.before, x.word[4], r.column_name, r.after) as condition, r.is_wish,
        format('%s.%I', x.word[4], r.column_name) as column_name
      from hidden r
      where x.mark[3] = 'shown' and r.relname = x.mark[2] and r.place = case x.mark[2]
          when 'messages' then 'message'
          when 'conversation_participants' then 'member'
          when 'profiles' then 'profile'
        end
      order by r.column_name
    ) y
    having count(*) > 0
  ) h on true
  where x.mark[2] = '' or (x.mark[1] = 'if') = case
    when x.mark[3] = 'shown' then h.shown is not null
    else exists (
      select from pg_class c
      join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'public'
      where c.relname = x.mark[2] and (
        x.mark[3] = 'partitioned' and c.relkind = 'p'
        or exists (
          select from pg_attribute a
          where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
            and (a.attname = x.mark[3] or a.attname || '_unzoned' = x.mark[3] and a.atttypid = 'timestamp'::regtype)
        )))
  end
$$;

-- Installs a function that is fitted to the host's tables.
create or replace procedure tacet.define(definition text)
language plpgsql
set check_function_bodies = off
as $$
begin
  execute tacet.fitted(definition);
end
$$;

-- What functions answer that write into a table which the host does not have.
create or replace function tacet.not_wired(function_name text)
returns boolean
language plpgsql stable
as $$
begin
  raise exception 'tacet.% is not wired to a table of this host', function_name
    using errcode = 'TC002', hint = 'Replace it as db/CONTRACT.md says.';
end
$$;

-- Whether a function of the host contract has a body that Tacet has installed, of this version or an older one; null for no function.
create or replace function tacet.is_default(installed regprocedure)
returns boolean
language sql stable strict
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from pg_proc p
    join tacet.default_bodies b on b.name = p.proname and b.body = md5(regexp_replace(p.prosrc, '\s+', ' ', 'g'))
    where p.oid = is_default.installed
  )
$$;

-- Calls a function of the host contract with nulls, and drops what it returns.
create or replace function tacet.call_with_nulls(function_name text)
returns void
language plpgsql volatile
as $$
begin
  execute format('select from tacet.%I(%s)', function_name, (
    select string_agg(format('null::%s', a.type::regtype), ', ' order by a.place)
    from pg_proc p
    cross join unnest(p.proargtypes) with ordinality as a (type, place)
    where p.oid = (
      select min(o.oid) from pg_proc o where o.pronamespace = 'tacet'::regnamespace and o.proname = function_name)));
end
$$;

-- Installs the default of a function of the host contract. A body that is not in tacet.default_bodies is the host's, and stays.
--
-- definition: one "create or replace function", fitted by tacet.fitted. is_tried: whether it is called with nulls, because a
-- host with other tables should learn of it now and not from a service that cannot claim. inert: a body, in SQL, for a host
-- without a table that the definition names as public.NAME, or where that call fails; without one the default stays, and fails
-- when the service calls it. With an inert body the function is always tried, unless is_tried is null: a call with nulls would
-- write. Then the columns that it names of its table, public.NAME t, are looked for. tacet doctor knows inert bodies by their end,
-- "-- inert".
create or replace procedure tacet.provide(
  signature text, definition text, is_tried boolean default false, inert text default null
)
language plpgsql
set check_function_bodies = off
as $$
declare
  called text := split_part(signature, '(', 1);
  installed regprocedure := to_regprocedure('tacet.' || signature);
  fitted text := tacet.fitted(definition);
  inert_body text := inert || ' -- inert';
  reason text;
begin
  if not tacet.is_default(installed) then
    return;
  end if;
  begin
    execute fitted;
  exception
    -- Another result, or other names of arguments.
    when invalid_function_definition then
      call tacet.retire(signature);
      execute fitted;
  end;
  installed := to_regprocedure('tacet.' || signature);
  insert into tacet.default_bodies (name, body)
  select called, md5(regexp_replace(d.body, '\s+', ' ', 'g'))
  from (select p.prosrc from pg_proc p where p.oid = installed union all select inert_body) as d (body)
  where d.body is not null
  on conflict do nothing;
  if inert is not null then
    select format('there is no public.%s', min(m.name[1])) into reason
    from regexp_matches(fitted, 'public\.(\w+)', 'g') as m (name)
    where to_regclass('public.' || m.name[1]) is null
    having count(*) > 0;
  end if;
  if reason is null and is_tried is null then
    select format('public.%s has no column %s', min(m.name[1]), min(c.name[1])) into reason
    from regexp_matches(fitted, 'public\.(\w+) t\M', 'g') as m (name)
    cross join regexp_matches(fitted, '\mt\.(\w+)', 'g') as c (name)
    where not exists (
      select from pg_attribute a
      where a.attrelid = to_regclass('public.' || m.name[1]) and a.attname = c.name[1] and not a.attisdropped)
    having count(*) > 0;
  end if;
  if reason is null and (is_tried or is_tried is not null and inert is not null) then
    begin
      perform tacet.call_with_nulls(called);
    exception
      -- The migrator tries again.
      when lock_not_available then
        raise;
      when others then
        reason := sqlerrm;
    end;
  end if;
  if reason is null then
    return;
  end if;
  if inert is not null then
    execute (
      select format(
        'create or replace function tacet.%I(%s) returns %s language sql %s as %L',
        called, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
        case p.provolatile when 'v' then 'volatile' else 'stable' end, inert_body)
      from pg_proc p
      where p.oid = installed);
  end if;
  raise notice 'tacet: the host tables differ from the default (%); %', reason, format(
    case
      when inert is null then 'replace tacet.%s, without which nothing is pushed'
      else 'tacet.%1$s is inert until you replace tacet.%1$s'
    end, called);
end
$$;

-- The last step: closes what was made, gives it to every service with a role of its own, and writes what depends on the
-- server. Every tacet migrate calls it, because the server's tz database grows.
create or replace procedure tacet.finish_applying()
language plpgsql
as $$
declare
  opened regprocedure;
begin
  for opened in
    select p.oid
    from pg_proc p
    where p.pronamespace = 'tacet'::regnamespace and pg_has_role(p.proowner, 'usage')
      and (p.proacl is null or exists (select from aclexplode(p.proacl) a where a.grantee = 0))
  loop
    execute format('revoke all on routine %s from public', opened);
  end loop;
  call tacet.fit_triggers();
  call tacet.tell_hidden_rows();
  perform tacet.grant_services();
  perform tacet.learn_time_zones();
  update tacet.settings s set database_identity = tacet.database_identity() where s.database_identity is null;
end
$$;

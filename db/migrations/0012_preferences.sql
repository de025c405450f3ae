-- What users want of their pushes: quiet hours, silenced conversations, kinds they opted out of.
--
-- Locks: only new objects and functions. A running older service is not affected; it does not ask for preferences.

-- The instant of a civil time in a zone, as RFC 5545 (3.3.5) has it: a time that a clock change skips is told by the offset
-- before the change, one that comes twice is its first occurrence.
--
-- PostgreSQL does the first by itself, and takes the second occurrence. The first one is a day earlier's offset away, if the
-- clock shows the same then.
create or replace function tacet.civil_instant(civil timestamp, zone text)
returns timestamptz
language sql stable
as $$
  select case when e.early < l.late and e.early at time zone zone = civil then e.early else l.late end
  from (select civil at time zone zone as late) l
  cross join lateral (
    select (civil - ((l.late - interval '24 hours') at time zone zone - (l.late - interval '24 hours') at time zone 'UTC'))
      at time zone 'UTC' as early
  ) e
$$;

-- How long the quiet hours last that a moment falls into; null outside of them, and in a zone that is none: then nobody
-- knows, and a push is better than silence.
--
-- The quiet hours of a local day begin with the instant of quiet_start on that day, which belongs to them, and end before
-- that of quiet_end, on the same day or, when that is not later, on the next. A clock change may move an end, by as much as
-- a whole day where a zone changed its side of the date line, so the days around the present one are looked at.
create or replace function tacet.quiet_hours_remaining(quiet_start time, quiet_end time, zone text, moment timestamptz)
returns interval
language plpgsql stable
as $$
begin
  return (
    select max(q.ends_at) - moment
    from generate_series(-2, 1) as days (since_today)
    cross join lateral (select (moment at time zone zone)::date + days.since_today as first_day) d
    cross join lateral (
      select
        tacet.civil_instant(d.first_day + quiet_start, zone) as starts_at,
        tacet.civil_instant(d.first_day + (quiet_end <= quiet_start)::int + quiet_end, zone) as ends_at
    ) q
    where q.starts_at <= moment and moment < q.ends_at);
exception
  when invalid_parameter_value then
    return null;
end
$$;

-- What a user wants in general. quiet_*: all null without quiet hours; a quiet_zone of null is that of the newest device.
-- changed_at: when the user last said so.
create table if not exists tacet.preferences (
  changed_at timestamptz not null default clock_timestamp(),
  quiet_start time,
  quiet_end time,
  user_id uuid primary key,
  quiet_zone text,
  quiet_policy text check (quiet_policy in ('hold', 'drop')),
  disabled_kinds text[] not null default '{}',
  check (num_nulls(quiet_start, quiet_end, quiet_policy) in (0, 3)),
  check (quiet_start <> quiet_end)
);

-- What a user wants of one conversation. muted_until: when a mute ends; null for good.
create table if not exists tacet.conversation_preferences (
  muted_until timestamptz,
  user_id uuid,
  conversation_id uuid,
  is_muted boolean not null,
  mentions_only boolean not null,
  primary key (user_id, conversation_id)
);

set check_function_bodies = off;

-- The next two are called for few recipients. They are in PL/pgSQL, so that the planner leaves their bodies alone: a host
-- without these tables claims as before, as long as nobody needs them.

-- Part of the host contract: the time zone in which a user lives, null when nobody knows. By default that of the device
-- that was registered last.
create or replace function tacet.user_time_zone(user_id uuid)
returns text
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return (
    select t.time_zone
    from public.push_tokens t
    where t.user_id = user_time_zone.user_id and t.invalidated_at is null and t.time_zone is not null
    order by t.registered_at desc
    limit 1);
end
$$;

-- Part of the host contract: whether a message mentions a user. By default by their name behind an @, in either case, with
-- no letter or digit behind it. Asked of recipients who want mentions only.
create or replace function tacet.is_mentioned(message_id uuid, user_id uuid)
returns boolean
language plpgsql stable
as $$
#variable_conflict use_column
begin
  return exists (
    select
    from public.messages m
    join public.profiles p on p.id = is_mentioned.user_id and btrim(p.name) <> ''
    cross join lateral string_to_table(lower(left(m.text, 4096)), '@' || lower(btrim(p.name)))
      with ordinality as behind (text, place)
    where m.id = is_mentioned.message_id and behind.place > 1 and left(behind.text, 1) !~ '[[:alnum:]]');
end
$$;

-- Part of the host contract: what a recipient wants of a push of a kind about a surface, for messages the conversation. A
-- host with preferences of its own answers from them instead. quiet_hours_remaining: null outside of quiet hours.
-- quiet_hours_policy: hold or drop; null is hold.
--
-- Each look-up has a limit of its own, so that the planner cannot make a join of it that reads the whole table.
create or replace function tacet.recipient_preferences(user_id uuid, kind text, surface_id uuid, moment timestamptz)
returns table (
  is_opted_out boolean, is_muted boolean, mentions_only boolean, quiet_hours_remaining interval, quiet_hours_policy text
)
language sql stable
as $$
  select
    coalesce(recipient_preferences.kind = any (p.disabled_kinds), false),
    coalesce(c.is_muted and (c.muted_until is null or c.muted_until > recipient_preferences.moment), false),
    coalesce(c.mentions_only, false),
    case
      when p.quiet_start is not null then
        tacet.quiet_hours_remaining(
          p.quiet_start, p.quiet_end, coalesce(p.quiet_zone, tacet.user_time_zone(recipient_preferences.user_id), 'UTC'),
          recipient_preferences.moment)
    end,
    p.quiet_policy
  from (values (1)) as one
  left join lateral (
    select x.disabled_kinds, x.quiet_start, x.quiet_end, x.quiet_zone, x.quiet_policy
    from tacet.preferences x
    where x.user_id = recipient_preferences.user_id
    limit 1
  ) p on true
  left join lateral (
    select x.is_muted, x.muted_until, x.mentions_only
    from tacet.conversation_preferences x
    where x.user_id = recipient_preferences.user_id and x.conversation_id = recipient_preferences.surface_id
    limit 1
  ) c on true
$$;

reset check_function_bodies;

-- Makes everything due that a user is held: the user wants something else now. For hosts with preferences of their own too.
create or replace function tacet.release_user(user_id uuid)
returns void
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  select tacet.release_holds(array_agg(d.subject_id), array_agg(d.user_id))
  from tacet.deliveries d
  where d.user_id = release_user.user_id and d.state = 'held'
  having count(*) > 0
$$;

-- Replaces all preferences of a user, and looks at what the user is held again. The columns of conversations have one
-- length. The first row is the lock: of two that are put at once, one holds as a whole.
create or replace function tacet.put_preferences(
  user_id uuid, quiet_start time, quiet_end time, quiet_zone text, quiet_policy text, disabled_kinds text[],
  conversation_ids uuid[], muted boolean[], muted_until timestamptz[], mentions_only boolean[]
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  insert into tacet.preferences as p (user_id, quiet_start, quiet_end, quiet_zone, quiet_policy, disabled_kinds)
  values (
    put_preferences.user_id, put_preferences.quiet_start, put_preferences.quiet_end, put_preferences.quiet_zone,
    put_preferences.quiet_policy, put_preferences.disabled_kinds
  )
  on conflict (user_id) do update
  set
    changed_at = clock_timestamp(), quiet_start = excluded.quiet_start, quiet_end = excluded.quiet_end,
    quiet_zone = excluded.quiet_zone, quiet_policy = excluded.quiet_policy, disabled_kinds = excluded.disabled_kinds;
  delete from tacet.conversation_preferences c
  where c.user_id = put_preferences.user_id and c.conversation_id <> all (put_preferences.conversation_ids);
  insert into tacet.conversation_preferences as c (user_id, conversation_id, is_muted, muted_until, mentions_only)
  select put_preferences.user_id, n.conversation_id, n.is_muted, n.muted_until, n.mentions_only
  from unnest(
    put_preferences.conversation_ids, put_preferences.muted, put_preferences.muted_until, put_preferences.mentions_only
  ) as n (conversation_id, is_muted, muted_until, mentions_only)
  on conflict (user_id, conversation_id) do update
  set is_muted = excluded.is_muted, muted_until = excluded.muted_until, mentions_only = excluded.mentions_only
  where (c.is_muted, c.muted_until, c.mentions_only)
    is distinct from (excluded.is_muted, excluded.muted_until, excluded.mentions_only);
  perform tacet.release_user(put_preferences.user_id);
end
$$;

-- A deleted user's ledger and preferences go with the user.
create or replace function tacet.forget_deleted_profiles()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '100ms'
as $$
begin
  delete from public.push_log l using deleted where l.user_id = deleted.id;
  delete from tacet.deliveries d using deleted where d.user_id = deleted.id;
  delete from tacet.preferences p using deleted where p.user_id = deleted.id;
  delete from tacet.conversation_preferences c using deleted where c.user_id = deleted.id;
  return null;
exception
  when others then
    perform tacet.count_trigger_failure(sqlstate, sqlerrm);
    return null;
end
$$;

-- A host with other tables learns of it here. Until it has replaced them, nobody is mentioned and no zone is known, because
-- a claim that fails would push nothing.
do $$
begin
  perform tacet.user_time_zone(null);
exception
  when others then
    create or replace function tacet.user_time_zone(user_id uuid) returns text language sql stable as 'select null::text';
    raise notice 'tacet: the host tables differ from the default (%); replace tacet.user_time_zone', sqlerrm;
end
$$;

do $$
begin
  perform tacet.is_mentioned(null, null);
exception
  when others then
    create or replace function tacet.is_mentioned(message_id uuid, user_id uuid)
    returns boolean language sql stable as 'select false';
    raise notice 'tacet: the host tables differ from the default (%); replace tacet.is_mentioned', sqlerrm;
end
$$;

revoke all on all functions in schema tacet from public;

insert into tacet.migrations (version, name) values (12, '0012_preferences') on conflict do nothing;

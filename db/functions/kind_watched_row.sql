-- The kind watched_row: rows of the host's tables that tacet.watch turns into pushes. Their triggers, recipients and content.

-- The recipients of an event of a watched kind, each once, and when each last looked at its surface.
create or replace function tacet.watched_row_audience(
  event_kind text, subject_id tacet.subject_id, surface_id tacet.conversation_id
)
returns setof tacet.push_recipient
language plpgsql stable rows 10
as $$
declare
  watched tacet.kinds;
begin
  select k.* into watched from tacet.kinds k where k.kind = watched_row_audience.event_kind;
  if not found or watched_row_audience.surface_id is null then
    return;
  end if;
  return query execute format(
    $query$
      select r.user_id, v.last_seen, v.left_at
      from (select distinct f.user_id::tacet.user_id as user_id from %s(%s) as f (user_id)) r
      left join tacet.surface_views v
        on v.user_id = r.user_id and v.surface_kind = $2 and v.surface_id = $3
      where r.user_id is not null
    $query$,
    watched.recipients,
    -- The function takes the type of the table's id.
    (
      select format('%s::%s', tacet.typed_subject('$1', watched.source, watched.id_column), p.proargtypes[0]::regtype)
      from pg_proc p
      where p.oid = watched.recipients::regproc
    ))
  using watched_row_audience.subject_id, watched.surface_kind, watched_row_audience.surface_id;
end
$$;

-- The content of one event of a watched kind. No row when the subject, the surface or the kind is gone.
create or replace function tacet.watched_row_content(event_kind text, subject_id tacet.subject_id)
returns setof tacet.push_content
language plpgsql stable rows 1
as $$
declare
  watched tacet.kinds;
  named text;
  texts text := '';
  written text := 'tacet.fill_text($2.body, v.named)';
begin
  select k.* into watched from tacet.kinds k where k.kind = watched_row_content.event_kind;
  if not found then
    return;
  end if;
  if exists (select from tacet.texts t where t.kind = watched_row_content.event_kind) then
    texts := '|| jsonb_build_object(''localised'', tacet.localised_texts($2.kind)), ''values'', tacet.text_values(v.named)';
  end if;
  if watched.composer is not null then
    written := format(
      'coalesce((select t.body from tacet.row_texts t where t.subject_id = $1 and t.kind = $2.kind), %s)', written);
  end if;
  select coalesce(string_agg(format('%L, left(s.%I::text, 4096)', p.name, p.name), ', '), '') into named
  from unnest(watched.placeholders) as p (name);
  return query execute format(
    $query$
      select
        e.surface_id, e.actor_id, e.send_at, $2.expires_in, null, null,
        case when tacet.is_cancelled(tacet.fill_template($2.cancel_key, v.named), null) then 'cancelled' end, false,
        json_build_object(
          'title', tacet.fill_text($2.title, v.named), 'body', %10$s,
          'surface_kind', $2.surface_kind, 'surface_id', e.surface_id,
          'presentation', tacet.campaign_presentation($2.presentation, v.named) %9$s)
      from (
        select
          coalesce(s.%1$I::tacet.conversation_id, s.%2$I::tacet.conversation_id) as surface_id, %3$s as actor_id,
          %4$s as send_at, jsonb_build_object(%5$s) as named
        from %6$s s
        where s.%2$I = %8$s
      ) e
      cross join lateral (select case when e.actor_id is not null then tacet.profile_name(e.actor_id) end) a (name)
      cross join lateral (
        select
          case
            when $2.actor_column is null then e.named
            else e.named || jsonb_build_object('actor', coalesce(nullif(left(a.name, 1024), ''), $2.unnamed_actor))
          end
      ) v (named)
      where %7$s
    $query$,
    coalesce(watched.surface_column, watched.id_column), watched.id_column,
    case when watched.actor_column is null then 'null::tacet.user_id' else format('s.%I::tacet.user_id', watched.actor_column) end,
    case
      when watched.send_at_column is null then 'null::timestamptz' else format('s.%I::timestamptz', watched.send_at_column)
    end,
    named, watched.source,
    case
      when watched.surface_table is null then 'true'
      else format(
        'exists (select from %s t where t.id = %s)', watched.surface_table, (
          select tacet.typed_id('e.surface_id', 'tacet.conversation_id', a.atttypid)
          from pg_attribute a
          where a.attrelid = watched.surface_table and a.attname = 'id'
        ))
    end, tacet.typed_subject('$1', watched.source, watched.id_column), texts, written)
  using subject_id, watched;
end
$$;

-- Takes waiting events of kinds with a composer, each once: what the model is asked, and what it is told, the columns of the row.
-- user_id: a recipient, null for none.
create or replace function tacet.take_row_texts(rows_max int)
returns table (kind text, subject_id tacet.subject_id, user_id tacet.user_id, composer text, facts text)
language plpgsql volatile
as $$
#variable_conflict use_column
declare
  taken record;
  watched tacet.kinds;
begin
  if not exists (select from tacet.kinds k where k.composer is not null) then
    return;
  end if;
  for taken in
    insert into tacet.row_texts as t (subject_id, kind)
    select i.subject_id, i.kind
    from tacet.inbox i
    join tacet.kinds k on k.kind = i.kind and k.composer is not null
    where not i.is_claimed and i.available_at > clock_timestamp()
      and not exists (select from tacet.row_texts x where x.subject_id = i.subject_id and x.kind = i.kind)
    order by i.available_at
    limit rows_max
    on conflict do nothing
    returning t.kind, t.subject_id
  loop
    select k.* into watched from tacet.kinds k where k.kind = taken.kind;
    kind := taken.kind;
    subject_id := taken.subject_id;
    composer := watched.composer;
    user_id := null;
    facts := null;
    begin
      execute format(
        'select jsonb_build_object(%s)::text from %s s where s.%I = %s',
        (
          select string_agg(format('%L, left(s.%I::text, 1000)', f.name, f.name), ', ')
          from jsonb_array_elements_text(watched.composer -> 'facts') as f (name)
        ),
        watched.source, watched.id_column, tacet.typed_subject('$1', watched.source, watched.id_column))
      into facts
      using taken.subject_id;
      select a.user_id into user_id
      from tacet.event_content(taken.kind, taken.subject_id) c
      cross join lateral tacet.watched_row_audience(taken.kind, taken.subject_id, c.surface_id) a
      limit 1;
    exception
      when others then
        raise warning 'tacet: what a model is told of a % cannot be read: % (%)', taken.kind, sqlerrm, sqlstate;
    end;
    update tacet.row_texts t set user_id = take_row_texts.user_id where t.subject_id = taken.subject_id and t.kind = taken.kind;
    return next;
  end loop;
end
$$;

call tacet.register_kind('watched_row', null, 'tacet.watched_row_content', 'tacet.watched_row_audience');

create or replace function tacet.fill_presentation(presentation jsonb, named jsonb)
returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    jsonb_object_agg(
      m.name,
      case
        when m.name = 'subtitle' then to_jsonb(tacet.fill_text(m.value #>> '{}', fill_presentation.named))
        when jsonb_typeof(m.value) = 'string'
        then to_jsonb(tacet.fill_template(m.value #>> '{}', fill_presentation.named))
        when jsonb_typeof(m.value) = 'array' then (
          select jsonb_agg(tacet.fill_template(e.value, fill_presentation.named) order by e.place)
          from jsonb_array_elements_text(m.value) with ordinality as e (value, place)
        )
        else m.value
      end),
    '{}')
  from jsonb_each(fill_presentation.presentation) as m (name, value)
$$;

-- A template for people to read. Where letters of both directions meet, each value is isolated (U+2068 and U+2069), so that neither a
-- name nor its punctuation moves what stands beside it; a value alone needs none. Unicode Standard Annex 9, section 2.4.
create or replace function tacet.fill_text(template text, named jsonb)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select
    case
      when f.text ~ '[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFE\U00010800-\U00010FFF\U0001E800-\U0001EFFF]'
        and f.text ~ '[A-Za-z\u00AA\u00B5\u00BA\u00C0-\u02B8\u0370-\u058F\u0900-\u1FFF\u2C00-\uD7FF\uF900-\uFB1C]'
        and fill_text.template !~ '^\{[^{}]+\}$'
      then tacet.fill_template(
        fill_text.template, (
          select jsonb_object_agg(n.name, e'\u2068' || translate(n.value, e'\u2066\u2067\u2068\u2069', '') || e'\u2069')
          from jsonb_each_text(fill_text.named) as n (name, value)
          where n.value <> ''
        ))
      else f.text
    end
  from (select tacet.fill_template(fill_text.template, fill_text.named)) f (text)
$$;

-- A template with its {names} replaced, at most 4096 characters. One pass: inserted text is not examined again. A name without
-- a value leaves nothing; a brace that begins no name is kept.
create or replace function tacet.fill_template(template text, named jsonb)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select left(
    coalesce(
      string_agg(
        case when t.part[1] is null then t.part[2] else coalesce(named ->> t.part[1], '') end, '' order by t.place),
      ''),
    4096)
  from regexp_matches(template, '\{([^{}]+)\}|([^{]+|\{)', 'g') with ordinality as t (part, place)
$$;

-- The trigger on a watched table; its argument is the kind. It fires once for each statement and serves only its kind's table.
-- It is as careful as the trigger on messages, and obeys tacet.skip.
create or replace function tacet.enqueue_watched()
returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '400ms'
as $$
declare
  watched tacet.kinds;
  is_wanted boolean;
  subjects tacet.subject_id[];
  surfaces tacet.conversation_id[];
  moments timestamptz[];
  failed_state text;
  failed_message text;
begin
  if current_setting('tacet.skip', true) = 'on' then
    return null;
  end if;
  begin
    select k.* into watched from tacet.kinds k where k.kind = tg_argv[0] and k.source = tg_relid;
    if not found then
      return null;
    end if;
    execute format(
      'select array_agg(new.%1$I::tacet.subject_id), '
      'array_agg(coalesce(new.%2$I::tacet.conversation_id, new.%1$I::tacet.conversation_id)), array_agg(%5$s) from changed new %3$s where %4$s',
      watched.id_column, coalesce(watched.surface_column, watched.id_column),
      case when watched.update_column is not null then
        format(
          'join previous old on old.%1$I = new.%1$I and old.%2$I is distinct from new.%2$I',
          watched.id_column, watched.update_column)
      end,
      watched.condition,
      case
        when watched.send_at_column is null then 'null::timestamptz' else format('new.%I::timestamptz', watched.send_at_column)
      end)
    into subjects, surfaces, moments;
    if subjects is null then
      return null;
    end if;
    with enqueued as (
      insert into tacet.inbox (subject_id, kind, conversation_id, available_at)
      select
        e.subject_id, watched.kind, e.surface_id,
        -- A model has so long; the service brings the event forward when its text is there, or comes to nothing.
        greatest(
          tacet.available_at(e.send_at), case when watched.composer is not null then clock_timestamp() + interval '10 seconds' end)
      from unnest(subjects, surfaces, moments) as e (subject_id, surface_id, send_at)
      on conflict do nothing
    )
    select s.listening_until > clock_timestamp() into is_wanted from tacet.settings s;
    if is_wanted then
      perform tacet.wake(null);
    end if;
  exception
    when query_canceled or others then
      failed_state := sqlstate;
      failed_message := sqlerrm;
      begin
        insert into tacet.inbox (subject_id, kind, available_at)
        select e.id, tg_argv[0], tacet.available_at(e.send_at) from unnest(subjects, moments) as e (id, send_at)
        on conflict do nothing;
        perform tacet.count_missed_events(tg_argv[0], failed_state, failed_message, '{}');
      exception
        when others then
          perform tacet.count_missed_events(tg_argv[0], sqlstate, sqlerrm, subjects);
      end;
  end;
  return null;
end
$$;

-- The trigger on deletes from a watched table: releases what is held about the deleted rows, so that it is recorded as
-- deleted.
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
  subjects tacet.subject_id[];
  users tacet.user_id[];
begin
  select k.* into watched from tacet.kinds k where k.kind = tg_argv[0] and k.source = tg_relid;
  if not found then
    return null;
  end if;
  execute format(
    'select array_agg(d.subject_id), array_agg(d.user_id) '
    'from previous o join tacet.deliveries d on d.subject_id = o.%I::tacet.subject_id where d.state = ''held'' and d.kind = $1',
    watched.id_column)
  into subjects, users
  using watched.kind;
  if subjects is not null then
    perform tacet.release_holds(subjects, users, array_fill('deleted'::text, array[cardinality(subjects)]));
  end if;
  return null;
exception
  when others then
    perform tacet.count_trigger_failure(sqlstate, sqlerrm);
    return null;
end
$$;

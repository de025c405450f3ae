-- Texts of watched kinds in other locales: tacet.localise, tacet.unlocalise, and what an event says in each of them.

-- A language tag as BCP 47 writes it, such as pt-BR for pt_br; null for one that is none.
create or replace function tacet.canonical_locale(locale text)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select concat_ws('-', lower(m.part[1]), initcap(lower(m.part[2])), upper(m.part[3]))
  from regexp_match(
    left(canonical_locale.locale, 86), '^([a-z]{2,3})(?:[-_]([a-z]{4}))?(?:[-_]([a-z]{2}|[0-9]{3}))?$', 'i') as m (part)
  where m.part is not null
$$;

-- Gives a watched kind its text in a locale; db/README.md describes the arguments. A second call for the same locale replaces the
-- first. What is null is as in the kind's own text.
--
-- The kinds tacet_new_message, tacet_new_notification and tacet_more are Tacet's own words: "New message", "New notification", and
-- "+{n} more" with the number {n}, which plural is about. Their text is the body.
create or replace function tacet.localise(
  kind text,
  locale text,
  title text default null,
  body text default null,
  subtitle text default null,
  counted name default null,
  plural jsonb default '{}'
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_variable
declare
  watched tacet.kinds;
  known_locale text := tacet.canonical_locale(locale);
  is_own boolean := coalesce(kind in ('tacet_new_message', 'tacet_new_notification', 'tacet_more'), false);
  fault text;
begin
  select k.* into watched from tacet.kinds k where k.kind = localise.kind for share;
  if is_own then
    watched.placeholders := case kind when 'tacet_more' then '{n}'::name[] else '{}' end;
  elsif not found then
    raise exception 'tacet: no kind % is watched', coalesce(quote_literal(kind), 'null') using errcode = '22023';
  end if;
  fault := case
    when known_locale is null
      then format('%s is not a language tag such as de or pt-BR', coalesce(quote_literal(locale), 'null'))
    when tacet.plural_fault(plural) is not null then 'plural ' || tacet.plural_fault(plural)
    when title is null and body is null and subtitle is null and plural = '{}'
      then 'a text has a title, a body, a subtitle or plural forms'
    when is_own and (body is null or title is not null or subtitle is not null or counted is not null)
      then format('the text of %s is its body', kind)
    when not is_own and (counted is null) <> (plural = '{}') then 'counted and plural come together'
  end;
  if fault is not null then
    raise exception 'tacet: %', fault using errcode = '22023';
  end if;
  if counted is not null and not counted = any (watched.placeholders) then
    raise exception 'tacet: counted is a column that the kind''s own texts have, not %', counted using errcode = '42703';
  end if;
  select t.part[1] into fault
  from regexp_matches(
    concat_ws(
      ' ', title, body, subtitle,
      (select string_agg(w.value, ' ') from jsonb_each(plural) f, jsonb_each_text(f.value) w)),
    '\{([^{}]+)\}', 'g') as t (part)
  where not t.part[1] = any (watched.placeholders) and (watched.actor_column is null or t.part[1] <> 'actor')
  limit 1;
  if found then
    raise exception 'tacet: {%} is not in the texts of kind %', fault, kind using errcode = '42703';
  end if;
  if (select count(*) from tacet.texts t where t.kind = localise.kind and t.locale <> known_locale) >= 30 then
    raise exception 'tacet: a kind has texts in 30 locales at most' using errcode = '54000';
  end if;
  insert into tacet.texts as t (kind, locale, title, subtitle, body, counted, plural)
  values (kind, known_locale, title, subtitle, body, counted, plural)
  on conflict on constraint texts_pkey do update
  set
    changed_at = clock_timestamp(), title = excluded.title, subtitle = excluded.subtitle, body = excluded.body,
    counted = excluded.counted, plural = excluded.plural;
  if octet_length(tacet.localised_texts(kind)::text) > 20000 then
    raise exception 'tacet: the texts of a kind have 20,000 bytes at most' using errcode = '54000';
  end if;
end
$$;

-- Takes away a kind's text in a locale, or without one in all of them. Returns how many there were. The kind may be gone.
create or replace function tacet.unlocalise(kind text, locale text default null)
returns int
language sql volatile
as $$
  with gone as (
    delete from tacet.texts t
    where t.kind = unlocalise.kind
      and (unlocalise.locale is null or t.locale = tacet.canonical_locale(unlocalise.locale))
    returning 1
  )
  select count(*)::int from gone
$$;

-- What is wrong with plural forms; null for nothing.
create or replace function tacet.plural_fault(plural jsonb)
returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when jsonb_typeof(plural) is distinct from 'object' then 'is an object of JSON'
    else (
      select
        case
          when f.category not in ('zero', 'one', 'two', 'few', 'many') then format('cannot have this member %L', f.category)
          when jsonb_typeof(f.words) <> 'object' then format('has an object for %L', f.category)
          else (
            select format('cannot have this member %L of %L', w.name, f.category)
            from jsonb_each(f.words) as w (name, value)
            where jsonb_typeof(w.value) <> 'string'
              or char_length(w.value #>> '{}')
                > case w.name when 'body' then 2048 when 'title' then 256 when 'subtitle' then 256 else -1 end
              or w.name = 'title' and w.value #>> '{}' = ''
            limit 1
          )
        end
      from jsonb_each(plural) as f (category, words)
      order by 1 nulls last
      limit 1
    )
  end
$$;

-- A kind's texts in other locales, as the service reads them: templates, of which it fills those that a device asks for. Null without
-- any.
create or replace function tacet.localised_texts(kind text)
returns jsonb
language sql stable
as $$
  select jsonb_object_agg(
    t.locale,
    jsonb_strip_nulls(jsonb_build_object(
      'title', t.title, 'subtitle', t.subtitle, 'body', t.body, 'counted', t.counted, 'plural', nullif(t.plural, '{}'))))
  from tacet.texts t
  where t.kind = localised_texts.kind
$$;

-- The values of an event for those texts, each cut to what a notification shows of it; null if all of them are still too much.
create or replace function tacet.text_values(named jsonb)
returns jsonb
language sql immutable
as $$
  select case when octet_length(v.cut::text) <= 8000 then v.cut end
  from (select jsonb_object_agg(n.name, left(n.value, 400)) from jsonb_each_text(text_values.named) as n (name, value)) v (cut)
$$;

-- The locale that one of a user's devices asks for; null when none does. What an app has registered may be anything.
create or replace function tacet.user_locale(user_id tacet.user_id)
returns text
language plpgsql stable
as $$
declare
  device_keys text;
  found_locale text;
begin
  for device_keys in
    select t.keys from tacet.push_targets(user_locale.user_id) t where t.keys like '%"locale"%' and octet_length(t.keys) <= 4096
  loop
    begin
      found_locale := tacet.canonical_locale(device_keys::jsonb ->> 'locale');
    exception
      when data_exception then
        found_locale := null;
    end;
    if found_locale is not null then
      return found_locale;
    end if;
  end loop;
  return null;
end
$$;

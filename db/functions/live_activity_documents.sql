-- What the states and attributes of Live Activities may say. A device shows nothing for a document that its app cannot decode, and APNs
-- answers 200: so a document is checked before it is kept.

-- A document as the app decodes it: each declared field once, dates as seconds since 2001-01-01 UTC, null for what is missing and may
-- be. Raises an error of class 22 that names what is wrong. what: `state` or `attributes`, for the error.
create or replace function tacet.live_activity_document(what text, declared jsonb, given jsonb)
returns jsonb
language plpgsql immutable
as $$
declare
  checked jsonb := '{}';
  stranger text;
  field record;
begin
  if jsonb_typeof(given) is distinct from 'object' then
    raise exception 'tacet: % must be an object', what using errcode = '22023';
  end if;
  select g.name into stranger from jsonb_object_keys(given) as g (name) where not declared ? g.name order by 1 limit 1;
  if found then
    raise exception 'tacet: % has no field %', what, left(stranger, 100) using errcode = '22023';
  end if;
  for field in select d.name, rtrim(d.type, '?') as type, d.type like '%?' as may_be_missing from jsonb_each_text(declared) as d (name, type) loop
    checked := checked || jsonb_build_object(
      field.name, tacet.live_activity_value(what, field.name, field.type, field.may_be_missing, nullif(given -> field.name, 'null')));
  end loop;
  return checked;
end
$$;

-- One field of a document; null where it is missing and may be.
create or replace function tacet.live_activity_value(what text, name text, type text, may_be_missing boolean, value jsonb)
returns jsonb
language plpgsql immutable
as $$
declare
  kind text := jsonb_typeof(value);
begin
  if value is null then
    if may_be_missing then
      return 'null';
    end if;
    raise exception 'tacet: % needs the field %', what, name using errcode = '22023';
  end if;
  if type not in ('string', 'int', 'number', 'bool', 'date') then
    raise exception 'tacet: the field % of % has the unknown type %', name, what, type using errcode = '22023';
  end if;
  if (case type
    when 'string' then kind = 'string' and char_length(value #>> '{}') <= 1024
    when 'bool' then kind = 'boolean'
    when 'int' then
      kind = 'number' and value::numeric = trunc(value::numeric)
        and value::numeric between -9223372036854775808 and 9223372036854775807
    when 'number' then kind = 'number' and abs(value::numeric) <= 1e300
    else kind = 'string'
  end) then
    return case type
      when 'int' then to_jsonb(value::bigint)
      when 'number' then to_jsonb(case when abs(value::numeric) < 1e-300 then 0 else value::float8 end)
      when 'date' then tacet.live_activity_date(what, name, value #>> '{}')
      else value
    end;
  end if;
  raise exception 'tacet: the field % of % must be %', name, what, case type
    when 'string' then 'a string of at most 1024 characters' when 'bool' then 'true or false' when 'int' then 'an integer'
    when 'number' then 'a number' else 'a time as in RFC 3339'
  end using errcode = '22023';
end
$$;

-- A date as seconds since 2001. In a function of its own, because a block that catches errors costs a subtransaction.
create or replace function tacet.live_activity_date(what text, name text, value text)
returns jsonb
language plpgsql immutable
as $$
begin
  if value ~ '^[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?(Z|[+-][0-2][0-9]:[0-5][0-9])$' then
    return to_jsonb((extract(epoch from value::timestamptz) - 978307200)::float8);
  end if;
  raise exception datetime_field_overflow;
exception
  when datetime_field_overflow or invalid_datetime_format then
    raise exception 'tacet: the field % of % must be a time as in RFC 3339', name, what using errcode = '22023';
end
$$;

-- Why documents of a type cannot be made: a field of an unknown type, a default or first state that does not fit, an end that changes what
-- the state does not have. Null for a type without a fault.
create or replace function tacet.live_activity_type_fault(declared tacet.activity_types)
returns text
language plpgsql stable
as $$
declare
  field record;
begin
  select f.name, f.type into field
  from jsonb_each_text(declared.attributes || declared.state) as f (name, type)
  where rtrim(f.type, '?') not in ('string', 'int', 'number', 'bool', 'date')
  limit 1;
  if found then
    return format('the field %s has the unknown type %s', left(field.name, 100), left(field.type, 100));
  end if;
  perform tacet.live_activity_document('attribute_defaults', (
    select coalesce(jsonb_object_agg(a.name, a.type), '{}')
    from jsonb_each(declared.attributes) as a (name, type)
    where declared.attribute_defaults ? a.name), declared.attribute_defaults);
  perform tacet.live_activity_document('first_state', declared.state, declared.first_state);
  perform tacet.live_activity_document('state of an end', declared.state, declared.first_state || declared.end_state);
  return null;
exception
  when data_exception then
    return replace(sqlerrm, 'tacet: ', '');
end
$$;

-- An alert of a Live Activity; null for none. A device ignores one without a title.
create or replace function tacet.live_activity_alert(alert jsonb)
returns jsonb
language plpgsql immutable
as $$
begin
  if alert is null or alert = 'null' then
    return null;
  end if;
  if jsonb_typeof(alert) <> 'object'
    or exists (
      select from jsonb_each(alert) as a (name, value)
      where a.name not in ('title', 'body', 'sound') or jsonb_typeof(a.value) <> 'string')
    or not coalesce(char_length(alert ->> 'title') between 1 and 256, false)
    or char_length(alert ->> 'body') > 512 or char_length(alert ->> 'sound') > 64
  then
    raise exception 'tacet: alert has a title of 1 to 256 characters, and may have a body of 512 and a sound of 64'
      using errcode = '22023';
  end if;
  return alert;
end
$$;

-- Raises an error for what would not fit into one push: 4 KB, of which what is around the documents takes 400 bytes. A document of
-- jsonb is longer than the payload's, which has no spaces.
create or replace function tacet.check_live_activity_size(attributes jsonb, state jsonb, alert jsonb)
returns void
language plpgsql immutable
as $$
declare
  bytes int := octet_length(attributes::text) + octet_length(state::text) + coalesce(octet_length(alert::text), 0);
begin
  if bytes > 3696 then
    raise exception 'tacet: attributes, state and alert have % bytes; a push has room for 3696', bytes using errcode = '22023';
  end if;
end
$$;

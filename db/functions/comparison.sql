-- What another sender has pushed: taken in, and compared with the ledger.

set check_function_bodies = off;

-- Takes pushes of another sender in, and returns how many were new or told more. Of several rows about one push the earliest that was
-- sent counts, so that the same rows change nothing when they come again. outcomes: null for a push that was sent.
create or replace function tacet.import_compared(
  subject_ids tacet.subject_id[], user_ids tacet.user_id[], kinds text[], moments timestamptz[], outcomes text[]
)
returns bigint
language sql volatile
set search_path = pg_catalog, pg_temp
as $$
  with imported as (
    insert into tacet.compared_pushes as c (subject_id, user_id, kind, sent_at, outcome)
    select distinct on (i.subject_id, i.user_id, i.kind) i.subject_id, i.user_id, i.kind, i.sent_at, i.outcome
    from unnest(subject_ids, user_ids, kinds, moments, outcomes) as i (subject_id, user_id, kind, sent_at, outcome)
    order by i.subject_id, i.user_id, i.kind, i.outcome is not null, i.sent_at
    on conflict on constraint compared_pushes_pkey do update
    set sent_at = excluded.sent_at, outcome = excluded.outcome
    where (excluded.outcome is not null, excluded.sent_at) < (c.outcome is not null, c.sent_at)
    returning 1
  )
  select count(*) from imported
$$;

-- The same from a table of the host, which is only read. source: its name, as SQL has it. The columns are names alone; kind_column
-- and outcome_column may be null. pushed_words: the outcomes of a push that was sent, in small letters. Rows without a subject, a user
-- or a time are left out.
create or replace function tacet.import_compared_table(
  source text, subject_column text, user_column text, time_column text, kind_column text, outcome_column text,
  pushed_words text[]
)
returns table (imported bigint, left_out bigint)
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regclass(source) is null then
    raise exception 'there is no table %', source using errcode = 'undefined_table';
  end if;
  execute format(
    $query$
      with pushed as (
        insert into tacet.compared_pushes as c (subject_id, user_id, kind, sent_at, outcome)
        select distinct on (1, 2, 3)
          i.subject_id::text::tacet.subject_id, i.user_id::text::tacet.user_id, coalesce(i.kind::text, 'message'),
          i.sent_at::timestamptz, case when lower(i.outcome::text) <> all ($1) then left(i.outcome::text, 64) end
        from (
          select s.%2$I as subject_id, s.%3$I as user_id, s.%4$I as sent_at, %5$s as kind, %6$s as outcome from %1$s s
        ) i
        where i.subject_id is not null and i.user_id is not null and i.sent_at is not null
        order by 1, 2, 3, 5 nulls first, 4
        on conflict on constraint compared_pushes_pkey do update
        set sent_at = excluded.sent_at, outcome = excluded.outcome
        where (excluded.outcome is not null, excluded.sent_at) < (c.outcome is not null, c.sent_at)
        returning 1
      )
      select
        (select count(*) from pushed),
        (select count(*) from %1$s s where s.%2$I is null or s.%3$I is null or s.%4$I is null)
    $query$,
    to_regclass(source), subject_column, user_column, time_column,
    coalesce('s.' || quote_ident(kind_column), 'null'), coalesce('s.' || quote_ident(outcome_column), 'null')
  ) into imported, left_out using pushed_words;
  return next;
end
$$;

reset check_function_bodies;

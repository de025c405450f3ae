-- Errors of triggers on the host's tables.

-- Counts an error that kept events of a kind from the inbox, with their ids. The service enqueues them later. When even
-- that fails, it raises a warning.
create or replace function tacet.count_missed_events(
  failed_kind text, failed_state text, failed_message text, failed_subject_ids tacet.subject_id[]
)
returns void
language plpgsql volatile
as $$
begin
  insert into tacet.trigger_failures (kind, sqlstate, message, subject_ids)
  values (failed_kind, failed_state, failed_message, coalesce(failed_subject_ids, '{}'));
exception
  when others then
    raise warning 'tacet: % (%)', failed_message, failed_state;
end
$$;

-- The same for messages, and for an error that must not reach the host and keeps no event back.
create or replace function tacet.count_trigger_failure(
  failed_state text, failed_message text, failed_subject_ids text[] default '{}'
)
returns void
language sql volatile
as $$
  select tacet.count_missed_events(
    'message', failed_state, failed_message, array(
      select f.id::tacet.subject_id
      from unnest(failed_subject_ids) as f (id)
      where 'tacet.subject_id' <> 'uuid' or tacet.uuid_of(f.id) is not null))
$$;

-- Takes what triggers could not do: the subjects of the oldest failures_max rows of kinds that match, which no other caller gets.
create or replace function tacet.take_missed(kinds text, failures_max int)
returns table (kind text, subject_id tacet.subject_id, failed_at timestamptz)
language sql volatile
as $$
  with taken as (
    update tacet.trigger_failures f
    set subject_ids = '{}'
    from (
      select x.ctid as place, x.subject_ids
      from tacet.trigger_failures x
      where x.subject_ids <> '{}' and x.kind ~ take_missed.kinds
      order by x.failed_at
      limit take_missed.failures_max
      for update skip locked
    ) x
    where f.ctid = x.place
    returning f.kind, x.subject_ids, f.failed_at
  )
  select t.kind, s.id, t.failed_at from taken t, unnest(t.subject_ids) as s (id)
$$;

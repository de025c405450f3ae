-- Errors of triggers on the host's tables.

-- Counts an error that must not reach the host. When even that fails, it raises a warning.
create or replace function tacet.count_trigger_failure(
  failed_state text, failed_message text, failed_subject_ids text[] default '{}'
)
returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into tacet.trigger_failures (sqlstate, message, subject_ids)
  values (
    failed_state, failed_message,
    array(
      select f.id::tacet.subject_id
      from unnest(failed_subject_ids) as f (id)
      where 'tacet.subject_id' <> 'uuid' or tacet.uuid_of(f.id) is not null)
  );
exception
  when others then
    raise warning 'tacet: % (%)', failed_message, failed_state;
end
$$;

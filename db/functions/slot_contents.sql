-- Documents that slot campaigns fetch from their hosts.

-- Whether the document of a day, or of a later one, was asked for: there was an answer, or a failure, or there may still be one.
create or replace function tacet.is_attempted(content tacet.notif_contents, day date, lease_us bigint)
returns boolean
language sql volatile
as $$
  select content.fire_date > day or content.fire_date = day and (
    content.failure_code is not null or content.fetched_at >= content.attempted_at
    or content.attempted_at > clock_timestamp() - lease_us * interval '1 microsecond'
  ) is true
$$;

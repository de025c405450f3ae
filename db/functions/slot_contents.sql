-- Documents that slot campaigns fetch from their hosts.

-- Why a stored document may not be used at a moment in a zone; null when it may. Its life counts from the slot that it was fetched for, on
-- the clock of the zone, so that it serves the same slot a day later, also on a day of 25 hours.
create or replace function tacet.content_refusal(content tacet.notif_contents, zone text, moment timestamptz)
returns text
language sql stable
as $$
  select case
    when content.document is null then 'content_missing'
    when moment at time zone zone
      > greatest(content.fetched_at at time zone zone, content.content_date + tacet.slot_time(content.slot))
        + (content.fresh_until - content.fetched_at) then 'content_stale'
  end
$$;

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

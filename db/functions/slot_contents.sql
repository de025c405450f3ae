-- Documents that slot campaigns fetch from their hosts.

set check_function_bodies = off;

-- Why a stored document may not be used at a moment; null when it may.
create or replace function tacet.content_refusal(document jsonb, fresh_until timestamptz, moment timestamptz)
returns text
language sql immutable
as $$
  select case when document is null then 'content_missing' when moment > fresh_until then 'content_stale' end
$$;

reset check_function_bodies;

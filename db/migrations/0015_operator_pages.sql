-- What the pages for operators look up: a user's pushes by their times, and whose device token it is.
--
-- Locks: CREATE INDEX on push_log keeps the service's writes waiting while it is built; on a large ledger build it
-- beforehand, with CONCURRENTLY and under the same name. A running older service is not affected.

-- push_log_user_idx goes by sent_at, which is null for everything that was not sent; and why a push did not come is what
-- people ask.
create index if not exists push_log_user_enqueued_idx on public.push_log (user_id, enqueued_at desc);

-- Part of the host contract: who has registered a device token that begins like this, in lower case; valid or not.
-- No hexadecimal digit sorts behind a g, so the two bounds are those of the beginning, and push_tokens_spelling_idx serves
-- them; the last condition is for databases whose collation knows digraphs.
set check_function_bodies = off;

create or replace function tacet.device_token_owners(beginning text, owners_max int)
returns table (user_id uuid, device_token text)
language sql stable
as $$
  select t.user_id, t.device_token
  from public.push_tokens t
  where lower(t.device_token) >= beginning
    and lower(t.device_token) < beginning || 'g'
    and starts_with(lower(t.device_token), beginning)
  order by lower(t.device_token)
  limit owners_max
$$;

reset check_function_bodies;

-- Where the table is another one, nobody is found until the host has replaced the function.
do $$
begin
  perform from tacet.device_token_owners('', 1);
exception
  when others then
    create or replace function tacet.device_token_owners(beginning text, owners_max int)
    returns table (user_id uuid, device_token text)
    language sql stable
    as 'select null::uuid, null::text where false';
    raise notice 'tacet: the host tables differ from the default (%); replace tacet.device_token_owners', sqlerrm;
end
$$;

revoke all on all functions in schema tacet from public;

do $$
begin
  perform tacet.grant_services();
end
$$;

insert into tacet.migrations (version, name) values (15, '0015_operator_pages') on conflict do nothing;

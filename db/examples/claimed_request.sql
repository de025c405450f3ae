-- Somebody asks for a favour, somebody else takes it on: the one who asked is told, unless they are looking at the request.

create table if not exists public.requests (
  id uuid primary key default gen_random_uuid(),
  requester_id uuid not null,
  claimed_by uuid,
  title text not null
);

-- Who is told. Tacet calls it with the id of the request, and names are qualified because it does so with a search_path
-- of its own.
create or replace function public.request_claimed_recipients(subject_id uuid)
returns setof uuid
language sql stable
as $$
  select r.requester_id from public.requests r where r.id = subject_id
$$;

select tacet.watch(
  kind => 'request_claimed',
  source => 'public.requests',
  fires_on => 'update of claimed_by',
  condition => 'old.claimed_by is null and new.claimed_by is not null',
  recipients => 'public.request_claimed_recipients',
  actor => 'claimed_by',
  surface_kind => 'request',
  title => '{actor} takes on your request',
  body => '{title}');

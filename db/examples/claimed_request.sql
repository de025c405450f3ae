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

-- tacet.watch also takes
--   presentation   as JSON: subtitle, category, sound, interruption_level, thread_id, relevance_score, image_url, badge, collapse_id,
--                  title_loc_key and the like, as POST /v1/pushes takes them; {column} in texts
--   send_at        the column with the time of the push, up to 31 days ahead. The row is read again then
--   expires_in     how long the push may be sent from then on
--   composer       what a language model is asked for the body: {"task": "Congratulate a person.", "facts": ["name"], "seconds": 2}. body
--                  serves where it fails
--   cancel_key     a text with {column}. select tacet.cancel_pushes('workout:17') takes its push back, and later ones of that key for
--                  two months
--   surface_table  the surfaces' table. Without it each report of presence searches for a row with the surface: index that column
--
-- actor: the column of who did it, who gets no push. surface_kind: what users look at; surface would name the column with its id, and
-- here it is the row. In texts {column} is the row's, {actor} the actor's name.
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

-- The same in German, for devices whose app has registered de or de-AT. counted names a column with a number, and plural has texts for its
-- other forms: {"one": {"body": "..."}}.
select tacet.localise('request_claimed', 'de', '{actor} übernimmt deine Bitte', '{title}');

-- A question is answered: whoever asked it and whoever follows it is told, unless they are looking at the question. Whoever
-- answers is not told of it.

create table if not exists public.questions (
  id uuid primary key default gen_random_uuid(),
  author_id uuid not null,
  text text not null
);

create table if not exists public.question_followers (
  question_id uuid not null references public.questions (id) on delete cascade,
  user_id uuid not null,
  primary key (question_id, user_id)
);

create table if not exists public.answers (
  id uuid primary key default gen_random_uuid(),
  question_id uuid not null references public.questions (id) on delete cascade,
  author_id uuid not null,
  text text not null
);

create or replace function public.question_answered_recipients(subject_id uuid)
returns setof uuid
language sql stable
as $$
  select q.author_id
  from public.answers a
  join public.questions q on q.id = a.question_id
  where a.id = subject_id
  union
  select f.user_id
  from public.answers a
  join public.question_followers f on f.question_id = a.question_id
  where a.id = subject_id
$$;

select tacet.watch(
  kind => 'question_answered',
  source => 'public.answers',
  recipients => 'public.question_answered_recipients',
  actor => 'author_id',
  surface => 'question_id',
  surface_kind => 'question',
  surface_table => 'public.questions',
  title => '{actor} answered',
  body => '{text}');

-- A sender of the usual recipe, as an edge function is: it looks for new messages, pushes to every participant but the sender unless it
-- guesses that they are looking (seen within 30 seconds), and logs what it did. It writes nothing but its log. Runs with psql, beside
-- Tacet, until it is stopped.

\set ON_ERROR_STOP on
\set QUIET on
set client_min_messages = warning;
select clock_timestamp() as began \gset
create table if not exists public.push_attempts (
  message_id uuid not null,
  user_id uuid not null,
  attempted_at timestamptz not null default clock_timestamp(),
  status text not null,
  primary key (message_id, user_id)
);

insert into public.push_attempts (message_id, user_id, status)
select
  m.id, p.user_id,
  case when exists (select from public.push_tokens t where t.user_id = p.user_id) then 'sent' else 'no_device' end
from public.messages m
join public.conversation_participants p on p.conversation_id = m.conversation_id and p.user_id <> m.from_id
where m.created_at > :'began'
  and (p.last_seen > m.created_at - interval '30 seconds') is not true
  and not exists (select from public.push_attempts a where a.message_id = m.id and a.user_id = p.user_id)
on conflict do nothing
\watch 0.1

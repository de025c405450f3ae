-- Host contract: what counts as a session.

-- A user's sessions that began in a period, its end excluded. By default those that Tacet has noted.
call tacet.provide('sessions_of(tacet.user_id, timestamptz, timestamptz)', definition => $default$
create or replace function tacet.sessions_of(user_id tacet.user_id, period_start timestamptz, period_end timestamptz)
returns table (began_at timestamptz, ended_at timestamptz)
language sql stable
as $$
  select s.began_at, s.last_at
  from tacet.user_sessions s
  where s.user_id = sessions_of.user_id and s.began_at >= sessions_of.period_start and s.began_at < sessions_of.period_end
$$
$default$);

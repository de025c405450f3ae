-- The tables that the campaign `coach` reads by default, for a host that does not have them yet. A host with tables of its
-- own replaces the functions tacet.check_in_audience, tacet.sessions_between and tacet.check_in_material instead. The last one answers
-- {"context_summary": "Leads a small team.",
--  "coaching_preferences": {"domain_styles": {"work": {"direct_vs_exploratory": 0.2}}, "brief_vs_detailed": 0.3},
--  "locale": "en_GB", "inactive_seconds": 216000,
--  "messages": [{"text": "My exam is on Thursday.", "written_at": 1795341600000000}],
--  "patterns": [{"theme": "saying yes too fast", "occurrences": 4, "domains": ["work"], "confidence": 0.9,
--                "synthesis": "Agrees in the moment.", "sessions_since": 1}],
--  "last_conversation": {"domain": "work", "texts": ["the newest message", "the one before"]},
--  "missing": []}
-- where what is missing or null is unknown. messages: the user's own of seven days, the newest first, in microseconds since 1970.
-- missing: what could not be read (messages, conversations, patterns, profile), because an empty list would mean that nothing happened.
--
-- A service with its own role needs this too:
--   grant select on public.context_profiles, public.pattern_cache to tacet_service;
--   create policy tacet_service on public.context_profiles for select to tacet_service using (true);
--   create policy tacet_service on public.pattern_cache for select to tacet_service using (true);

-- notification_preferences: {"check_ins_enabled": true, "frequency": "daily" | "few_times_a_week" | "weekly"}.
-- coaching_preferences: {"domain_styles": {"work": {"direct_vs_exploratory": 0.2, …}}}, each from 0 to 1. time_zone: an IANA
-- name; null for that of the user's newest device.
create table if not exists public.context_profiles (
  user_id uuid primary key references public.profiles (id) on delete cascade,
  time_zone text,
  context_summary text,
  notification_preferences jsonb not null default '{}',
  coaching_preferences jsonb not null default '{}'
);

-- A coaching session is a conversation that its user owns.
alter table public.conversations
  add column if not exists owner_id uuid references public.profiles (id) on delete cascade,
  add column if not exists domain text;

create index if not exists conversations_owner_idx on public.conversations (owner_id, created_at desc);

-- What returns in a user's conversations; valid for three sessions.
create table if not exists public.pattern_cache (
  id uuid primary key default gen_random_uuid(),
  created_at timestamptz not null default now(),
  user_id uuid not null references public.profiles (id) on delete cascade,
  theme text not null,
  occurrences int not null default 1,
  domains text[] not null default '{}',
  confidence double precision not null,
  synthesis text not null default ''
);

create index if not exists pattern_cache_user_idx on public.pattern_cache (user_id, created_at desc);

alter table public.context_profiles enable row level security;
alter table public.pattern_cache enable row level security;

-- On Supabase users read and change their own profile, and read what was recognised about them.
do $$
begin
  if to_regprocedure('auth.uid()') is not null then
    drop policy if exists context_profiles_own_row on public.context_profiles;
    create policy context_profiles_own_row on public.context_profiles
      using (user_id = auth.uid()) with check (user_id = auth.uid());
    drop policy if exists pattern_cache_own_rows on public.pattern_cache;
    create policy pattern_cache_own_rows on public.pattern_cache for select using (user_id = auth.uid());
  end if;
end
$$;

-- The tables that the campaign `ritual` reads by default, for a host that does not have them yet, and its switch. Applied after
-- `tacet migrate`. A host with tables of its own replaces tacet.ritual_audience, tacet.ritual_profile, tacet.complete_micro_action and tacet.current_streak instead.

-- terrain_type: cold_deficient, cold_balanced, warm_excess, warm_deficient, warm_balanced, neutral_balanced, neutral_deficient or
-- neutral_excess; null until the user is onboarded. nickname: as in "Low Flame".
create table if not exists public.terrain_profiles (
  user_id uuid primary key references public.profiles (id) on delete cascade,
  terrain_type text,
  nickname text
);

-- A user's days. micro_action_completed_at: when the day's action was done; null when it was not.
create table if not exists public.daily_logs (
  user_id uuid references public.profiles (id) on delete cascade,
  day date,
  micro_action_completed_at timestamptz,
  primary key (user_id, day)
);

alter table public.terrain_profiles enable row level security;
alter table public.daily_logs enable row level security;

-- On Supabase users read and change their own rows.
do $$
begin
  if to_regprocedure('auth.uid()') is not null then
    drop policy if exists terrain_profiles_own_row on public.terrain_profiles;
    create policy terrain_profiles_own_row on public.terrain_profiles
      using (user_id = auth.uid()) with check (user_id = auth.uid());
    drop policy if exists daily_logs_own_rows on public.daily_logs;
    create policy daily_logs_own_rows on public.daily_logs
      using (user_id = auth.uid()) with check (user_id = auth.uid());
  end if;
end
$$;

update tacet.campaigns set is_active = true where name = 'ritual';

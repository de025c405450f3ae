-- Achievements: each row of a table of the application congratulates its user, in words of the language model or in the body
-- below. Applied after examples/engagement.sql, whose reminder preferences have the switch: {"achievements": true}.

create table if not exists public.achievements (
  id uuid primary key default gen_random_uuid(),
  earned_at timestamptz not null default now(),
  user_id uuid not null references public.profiles (id) on delete cascade,
  name text not null,
  description text not null,
  streak int,
  personal_best text,
  image_url text,
  image_key text
);

-- Who has earned it and wants to hear of it.
create or replace function public.achievement_recipients(subject_id uuid)
returns setof uuid
language sql stable
as $$
  select a.user_id
  from public.achievements a
  cross join lateral tacet.wished_reminders(a.user_id, 'achievements') p
  where a.id = achievement_recipients.subject_id and p.preferences is not null
$$;

alter table public.achievements enable row level security;

-- On Supabase users read their own rows.
do $$
begin
  if to_regprocedure('auth.uid()') is not null then
    drop policy if exists achievements_own_rows on public.achievements;
    create policy achievements_own_rows on public.achievements for select using (user_id = auth.uid());
  end if;
end
$$;

select tacet.watch(
  kind => 'achievement',
  source => 'public.achievements',
  recipients => 'public.achievement_recipients',
  title => '🎉 Achievement Unlocked!',
  body => 'Incredible! You''ve earned ''{name}''. {description}',
  presentation => '{"category": "ACHIEVEMENT", "sound": "achievement.caf", "interruption_level": "passive",
    "collapse_id": "achievement_{id}", "image_url": "{image_url}", "image_key": "{image_key}"}',
  composer => '{"task": "Congratulate a person on an achievement, which just happened.", "seconds": 2,
    "facts": ["name", "description", "streak", "personal_best"]}');

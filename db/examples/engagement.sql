-- The columns that re-engagement and reminders read by default, and their switches. Applied after `tacet migrate` and examples/coach.sql. A
-- host with tables of its own replaces tacet.engagement_preferences and tacet.coaching_facts instead.

-- communication_preferences: {"absence_response": "give_me_space" | "light_nudge" | "check_in_on_me", "preferred_times": ["morning" | "evening"],
-- "frequency": "daily" | "few_times_a_week" | "weekly" | "never"}. reminder_preferences: {"morning_greeting": true, "workout_reminders": true,
-- "workout_schedule": [{"type": "Run", "weekdays": [1, 3], "time": "07:30"}], "meal_reminders": true, "hydration_reminders": true,
-- "hydration_frequency": "bi_hourly", "achievements": true, ...}. coaching_facts: {"primary_goal": "Run 5 km", "streak": 4, ...}.
alter table public.context_profiles
  add column if not exists communication_preferences jsonb,
  add column if not exists reminder_preferences jsonb,
  add column if not exists coaching_facts jsonb;

update tacet.campaigns set is_active = true where name in ('lapse', 'morning', 'workout', 'meal', 'hydration');

-- The columns that re-engagement and reminders read by default, and their switches. Applied after `tacet migrate` and examples/coach.sql. A
-- host with tables of its own replaces tacet.engagement_preferences and tacet.coaching_facts instead.

-- What is missing or unknown is silence. In all columns times are as 2026-11-22T07:30:00Z.
--
-- communication_preferences, for the campaign lapse:
--   absence_response  give_me_space: nothing. light_nudge: once in 7 days, at most three times. check_in_on_me: at once, then 3, 7, 14 and
--                     30 days after the last time
--   preferred_times   a list of morning (09:00) and evening (19:00); 10:00 for an empty one
--   frequency         daily, few_times_a_week, weekly or never
--
-- reminder_preferences; what is absent is off:
--   morning    morning_greeting, morning_time ("08:00")
--   workout    workout_reminders, workout_schedule, of at most 24 entries: [{"type": "Run", "weekdays": [1, 3], "time": "07:30"}]
--   meal       meal_reminders: at 08:00, 12:30, 15:00 and 18:30
--   hydration  hydration_reminders, hydration_frequency (hourly, bi_hourly, tri_daily), waking_start ("08:00"), waking_end ("22:00")
--   others     such as achievements, of db/examples/achievement.sql
--
-- coaching_facts, of which texts are made; everything may be missing: name, motivational_style (encouraging, challenging, supportive),
-- streak, primary_goal, personality_traits, last_workout_type, last_workout_at, planned_workout, sleep_quality (poor, fair, good,
-- excellent), sleep_hours, weather (sunny, cloudy, rainy, snowy), temperature, calories, protein, carbs, fat, last_logged, last_meal_at,
-- favorite_foods. A workout or meal of the last two hours drops its reminder.
alter table public.context_profiles
  add column if not exists communication_preferences jsonb,
  add column if not exists reminder_preferences jsonb,
  add column if not exists coaching_facts jsonb;

update tacet.campaigns set is_active = true where name in ('lapse', 'morning', 'workout', 'meal', 'hydration');

-- Re-engagement and reminders.
--
-- Locks: ACCESS EXCLUSIVE for an instant on tacet.activity, tacet.campaigns, tacet.notif_deliveries and tacet.notif_config, whose rows are not
-- rewritten. A running older service is not affected.

set client_min_messages = warning;

-- re_engaged_at: of the last push that asked the user to come back.
alter table tacet.activity add column if not exists re_engaged_at timestamptz;

-- on_push: a function (user_id tacet.user_id, moment timestamptz), called in the transaction that queues a push of a campaign with hours;
-- null for none.
alter table tacet.campaigns add column if not exists on_push text;

-- snoozes: how often the user has asked to be reminded again.
alter table tacet.notif_deliveries add column if not exists snoozes smallint not null default 0;

-- imageBaseURL: where pictures are whose names campaigns have.
alter table tacet.notif_config drop constraint if exists notif_config_check;
alter table tacet.notif_config add constraint notif_config_check check (
  case name
    when 'mode' then value in ('"online_first"', '"offline_first"')
    when 'prefetchRunner' then value in ('"none"', '"background-runner"')
    when 'scheduler' then value = '"auto"'
    when 'prefetchLeadMinutes' then value::text ~ '^[1-9][0-9]{0,3}$' and value <= '1440'
    when 'ttlSeconds' then value::text ~ '^[1-9][0-9]{0,6}$' and value <= '1209600'
    when 'runnerRearm' then jsonb_typeof(value) = 'boolean'
    when 'iosCategoryIdentifier' then value::text ~ '^"[A-Za-z0-9_.-]{1,100}"$'
    when 'androidChannelId' then value::text ~ '^"[A-Za-z0-9_.-]{1,100}"$'
    when 'imageBaseURL' then value::text ~ '^"https://[!#-\[\]-~]{1,255}/"$'
    else false
  end
);

-- Asks users back who have stopped coming. Detection is at nine, the earliest time that a user may wish. This and the reminders are
-- active when the host has their preferences (db/examples/engagement.sql).
insert into tacet.campaigns (
  is_active, needs_no_session, name, local_time, audience, material, on_push, push_types, cap_group, definition
)
values (
  false, false, 'lapse', '09:00', 'tacet.lapse_audience', 'tacet.lapse_material', 'tacet.note_re_engagement',
  '{reengagement}', 'check_in',
  $json$
    {
      "layers": ["lapse"],
      "composer": {
        "kind": "model", "on_failure": "template", "rules": "plain", "seconds": 2,
        "task": "Welcome back a person who has not opened the app for some days. Be kind, and make it easy to begin again.",
        "facts": ["name", "days_away", "primary_goal", "attempts", "last_workout_type", "personality_traits"]},
      "templates": {"reengagement": [
        {"title": "We miss you!", "body": "Your coach is waiting to help you get back on track."}]},
      "payload": {"user_id": "{{user_id}}", "days_away": "{{days_away}}"},
      "presentation": {
        "category": "RE_ENGAGEMENT", "interruption_level": "time-sensitive", "collapse_id": "lapse_{{days_away}}"}
    }
  $json$
)
on conflict (name) do nothing;

insert into tacet.campaigns (is_active, is_scheduled, needs_no_session, name, audience, material, push_types, definition)
values
(
  false, false, false, 'morning', 'tacet.morning_audience', 'tacet.morning_material', '{morning}',
  $json$
    {
      "slots": [{"slot": "0800"}],
      "way": "push",
      "category": {"id": "DAILY_CHECK", "actions": [
        {"id": "LOG_MOOD", "title": "Log Mood", "foreground": true},
        {"id": "QUICK_CHAT", "title": "Chat with Coach", "foreground": true}]},
      "composer": {
        "seconds": 2,
        "task": "Greet a person in the morning as their coach.",
        "facts": [
          "sleep_quality", "sleep_hours", "weather", "temperature", "planned_workout", "streak", "weekday", "motivational_style"]},
      "texts": [
        {"if": {"name": {"known": true}}, "title": "Good morning, {{name}}! ☀️", "body": [
          "Rise and shine! Ready to make today amazing?",
          "Good morning! Your coach is here to support you today.",
          "A new day, new opportunities! What will you achieve today?",
          "Morning champion! Let's make today count."]},
        {"title": "Good morning! ☀️", "body": [
          "Rise and shine! Ready to make today amazing?",
          "Good morning! Your coach is here to support you today.",
          "A new day, new opportunities! What will you achieve today?",
          "Morning champion! Let's make today count."]}],
      "payload": {"image_key": "{{image_key}}"},
      "presentation": {"collapse_id": "morning_greeting", "image_key": "{{image_key}}"}
    }
  $json$
),
(
  false, false, false, 'workout', 'tacet.workout_audience', 'tacet.workout_material', '{workout}',
  $json$
    {
      "slots": [{"slot": "0700"}],
      "way": "push",
      "category": {"id": "WORKOUT", "actions": [
        {"id": "START_WORKOUT", "title": "Start Workout", "foreground": true},
        {"id": "SNOOZE_30", "title": "Remind in 30 min", "foreground": false}]},
      "composer": {
        "seconds": 2,
        "task": "Remind a person of a workout that begins now.",
        "facts": ["type", "days_since", "streak", "motivational_style"],
        "titles": [
          "Time to crush your {{type}}! 💪", "Ready for today's {{type}}?", "Your {{type}} awaits! 🏋️",
          "Let's make today count! 🎯"],
        "titles_by": "streak"},
      "texts": [
        {"title": "Workout Time! 🏋️", "body": [
          "Your {{type}} is waiting! Keep that {{streak}}-day streak going! 🔥",
          "Time to move! Your body will thank you. 💪",
          "Ready to feel amazing? Your {{type}} starts now!",
          "Let's go! Every workout counts towards your goals."]}],
      "payload": {"workoutType": "{{type}}"},
      "presentation": {"collapse_id": "workout_{{fire_seconds}}", "sound": "reminder.caf"}
    }
  $json$
),
(
  false, false, false, 'meal', 'tacet.meal_audience', 'tacet.meal_material', '{meal}',
  $json$
    {
      "slots": [
        {"slot": "0800", "phase": "breakfast"}, {"slot": "1230", "phase": "lunch"},
        {"slot": "1500", "phase": "snack"}, {"slot": "1830", "phase": "dinner"}],
      "way": "push",
      "category": {"id": "MEAL", "actions": [
        {"id": "LOG_MEAL", "title": "Log Meal", "foreground": true},
        {"id": "QUICK_ADD", "title": "Quick Add", "foreground": true}]},
      "pools": {
        "breakfast": [{"meal": "breakfast", "meal_name": "Breakfast", "emoji": "🍳"}],
        "lunch": [{"meal": "lunch", "meal_name": "Lunch", "emoji": "🥗"}],
        "dinner": [{"meal": "dinner", "meal_name": "Dinner", "emoji": "🍽️"}],
        "snack": [{"meal": "snack", "meal_name": "Snack", "emoji": "🍎"}]},
      "pool": "{{phase}}",
      "composer": {
        "seconds": 2,
        "task": "Remind a person to eat and log a meal.",
        "facts": ["meal", "calories", "protein", "carbs", "fat", "last_logged", "favorite_foods", "motivational_style"],
        "titles": ["{{emoji}} {{meal_name}} time!"]},
      "texts": [
        {"title": "{{emoji}} {{meal_name}} Reminder", "body": [
          "Time to fuel your body with a nutritious {{meal}}!",
          "Don't forget to log your {{meal}} - every meal counts!",
          "Hungry? Let's track that {{meal}} and stay on top of your nutrition.",
          "{{meal_name}} time! Quick tip: log it now while it's fresh in your mind."]}],
      "payload": {"mealType": "{{phase}}"},
      "presentation": {"collapse_id": "meal_{{phase}}", "sound": "reminder.caf"}
    }
  $json$
),
(
  false, false, false, 'hydration', 'tacet.hydration_audience', 'tacet.hydration_material', '{hydration}',
  $json$
    {
      "slots": [{"slot": "0800"}],
      "way": "push",
      "category": {"id": "HYDRATION", "actions": []},
      "texts": [{"title": "💧 Hydration Time!", "body": "Time for a water break. Stay hydrated!"}],
      "payload": {},
      "presentation": {"collapse_id": "hydration_reminder", "sound": "reminder.caf"}
    }
  $json$
)
on conflict (name) do nothing;

insert into tacet.migrations (version, name) values (38, '0038_reminders') on conflict do nothing;

reset client_min_messages;

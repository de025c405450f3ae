-- A reminder of each workout of the user's schedule (db/examples/engagement.sql).

insert into tacet.campaigns (
  name, audience, material, push_types, is_active, is_scheduled, needs_no_session, definition
)
select
  'workout', 'tacet.workout_audience', 'tacet.workout_material', '{workout}', false, false, false,
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
          "Time to crush your {type}! 💪", "Ready for today's {type}?", "Your {type} awaits! 🏋️",
          "Let's make today count! 🎯"],
        "titles_by": "streak"},
      "texts": [
        {"title": "Workout Time! 🏋️", "body": [
          "Your {type} is waiting! Keep that {streak}-day streak going! 🔥",
          "Time to move! Your body will thank you. 💪",
          "Ready to feel amazing? Your {type} starts now!",
          "Let's go! Every workout counts towards your goals."]}],
      "payload": {"workoutType": "{type}"},
      "presentation": {"collapse_id": "workout_{fire_seconds}", "sound": "reminder.caf"}
    }
  $json$
where tacet.offers_campaign('workout')
on conflict do nothing;

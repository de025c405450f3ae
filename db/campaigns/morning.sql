-- A greeting at the user's morning time (db/examples/engagement.sql).

insert into tacet.campaigns (
  name, audience, material, push_types, is_active, is_scheduled, needs_no_session, definition
)
select
  'morning', 'tacet.morning_audience', 'tacet.morning_material', '{morning}', false, false, false,
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
          "sleep_quality", "sleep_hours", "weather", "temperature", "planned_workout", "streak", "weekday",
          "motivational_style"]},
      "texts": [
        {"if": {"name": {"known": true}}, "title": "Good morning, {name}! ☀️", "body": [
          "Rise and shine! Ready to make today amazing?",
          "Good morning! Your coach is here to support you today.",
          "A new day, new opportunities! What will you achieve today?",
          "Morning champion! Let's make today count."]},
        {"title": "Good morning! ☀️", "body": [
          "Rise and shine! Ready to make today amazing?",
          "Good morning! Your coach is here to support you today.",
          "A new day, new opportunities! What will you achieve today?",
          "Morning champion! Let's make today count."]}],
      "payload": {"image_key": "{image_key}"},
      "presentation": {"collapse_id": "morning_greeting", "image_key": "{image_key}"}
    }
  $json$
where tacet.offers_campaign('morning')
on conflict do nothing;

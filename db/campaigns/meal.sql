-- A reminder of each meal (db/examples/engagement.sql).

insert into tacet.campaigns (
  name, audience, material, push_types, is_active, is_scheduled, needs_no_session, definition
)
select
  'meal', 'tacet.meal_audience', 'tacet.meal_material', '{meal}', false, false, false,
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
      "pool": "{phase}",
      "composer": {
        "seconds": 2,
        "task": "Remind a person to eat and log a meal.",
        "facts": ["meal", "calories", "protein", "carbs", "fat", "last_logged", "favorite_foods", "motivational_style"],
        "titles": ["{emoji} {meal_name} time!"]},
      "texts": [
        {"title": "{emoji} {meal_name} Reminder", "body": [
          "Time to fuel your body with a nutritious {meal}!",
          "Don't forget to log your {meal} - every meal counts!",
          "Hungry? Let's track that {meal} and stay on top of your nutrition.",
          "{meal_name} time! Quick tip: log it now while it's fresh in your mind."]}],
      "payload": {"mealType": "{phase}"},
      "presentation": {"collapse_id": "meal_{phase}", "sound": "reminder.caf"}
    }
  $json$
where tacet.offers_campaign('meal')
on conflict do nothing;

-- Two micro-actions a day, where the host has its tables (db/examples/ritual.sql).
--
-- slots: times of the user's day. The material may have slots with values for one, or for one on a weekday ("0730.3"), or
--   {"skip": "already_done"}. An audience's column slots gives each user their own, until the user chooses through the API.
-- way: push sends, local leaves it to the app, auto sends to devices that have not reported the row as armed.
-- pools, pool: lists of entries, of which one takes its turn each day, and which of them serves. Texts have the entry's members, those of
--   the material, and date, time, slot and phase. With a composer a model writes the body; titles and titles_by give its title.
-- category: the buttons of the notification. An action such as SNOOZE_30 sends the push again after 30 minutes, three times at most. The
--   column on_action names a function (user_id uuid, action text, day date, moment timestamptz) returns jsonb, whose answer the app gets.
-- content: {"url": "https://host.example/daily"} gives texts the members of a JSON object of strings, at most 64 KiB. It is fetched once for
--   each slot and day, 20 minutes before, and for each user if the URL has {user_id}. After a failure the last document serves for 24 hours;
--   tacet.notif_contents has both. tacet.notif_config changes this: mode "offline_first", prefetchLeadMinutes, ttlSeconds, and Android's
--   androidChannelId and androidChannelName.

insert into tacet.campaigns (
  name, audience, material, push_types, is_active, is_scheduled, needs_no_session, on_action, definition
)
select
  'ritual', 'tacet.ritual_audience', 'tacet.ritual_material', '{ritual}', false, false, false, 'tacet.ritual_action',
  $json$
    {
      "slots": [{"slot": "0800", "phase": "morning"}, {"slot": "2000", "phase": "evening"}],
      "way": "auto",
      "category": {"id": "TERRAIN_RITUAL", "actions": [
        {"id": "DID_THIS", "title": "Did This ✓", "foreground": false},
        {"id": "START_RITUAL", "title": "Start Ritual →", "foreground": true}]},
      "pools": {
        "cold.morning": [
          {"text": "Drink a glass of warm water", "seconds": "10"},
          {"text": "Rub your palms together briskly for 10 seconds", "seconds": "10"},
          {"text": "Place your warm palms over your lower back", "seconds": "15"},
          {"text": "Stretch your arms overhead and take 3 deep breaths", "seconds": "15"},
          {"text": "Roll your ankles slowly — 5 circles each direction", "seconds": "20"},
          {"text": "Press your thumb into the center of your palm for 5 seconds", "seconds": "10"},
          {"text": "Gently massage your earlobes for 10 seconds", "seconds": "10"}],
        "cold.evening": [
          {"text": "Place your hands on your lower belly and breathe deeply", "seconds": "15"},
          {"text": "Sip warm water before bed", "seconds": "10"},
          {"text": "Rub the soles of your feet gently for 15 seconds", "seconds": "15"},
          {"text": "Take 3 slow breaths, imagining warmth spreading inward", "seconds": "15"},
          {"text": "Gently press the space between your eyebrows for 5 seconds", "seconds": "10"},
          {"text": "Roll your shoulders backward slowly 5 times", "seconds": "15"},
          {"text": "Cup your palms over your closed eyes and relax your jaw", "seconds": "15"}],
        "warm.morning": [
          {"text": "Drink room-temperature water with a slow exhale", "seconds": "10"},
          {"text": "Splash cool water on your wrists and inner elbows", "seconds": "10"},
          {"text": "Take 3 breaths — inhale 4 counts, exhale 6 counts", "seconds": "20"},
          {"text": "Gently press your temples with your fingertips for 5 seconds", "seconds": "10"},
          {"text": "Open a window and take 3 deep breaths of fresh air", "seconds": "15"},
          {"text": "Close your eyes and unclench your jaw for 10 seconds", "seconds": "10"},
          {"text": "Roll your neck slowly — 3 circles each direction", "seconds": "20"}],
        "warm.evening": [
          {"text": "Take 3 slow exhales through your mouth", "seconds": "15"},
          {"text": "Press your thumbs into your temples gently for 10 seconds", "seconds": "10"},
          {"text": "Place a cool cloth on the back of your neck", "seconds": "15"},
          {"text": "Close your eyes and count 5 slow breaths", "seconds": "20"},
          {"text": "Gently shake out your hands for 10 seconds to release tension", "seconds": "10"},
          {"text": "Rest your palms face-up on your knees and breathe", "seconds": "15"},
          {"text": "Soften your forehead and relax your tongue from the roof of your mouth", "seconds": "10"}],
        "neutral.morning": [
          {"text": "Take 3 deep breaths by a window", "seconds": "15"},
          {"text": "Roll your shoulders back 5 times", "seconds": "15"},
          {"text": "Stand tall and press your feet into the floor for 10 seconds", "seconds": "10"},
          {"text": "Tap the top of your head lightly with your fingertips", "seconds": "10"},
          {"text": "Stretch your arms wide and take one big breath", "seconds": "10"},
          {"text": "Rub your hands together and place them over your eyes", "seconds": "15"},
          {"text": "Interlace your fingers overhead and lean gently to each side", "seconds": "15"}],
        "neutral.evening": [
          {"text": "Drop your shoulders away from your ears", "seconds": "10"},
          {"text": "Close your eyes and count 5 breaths", "seconds": "20"},
          {"text": "Place one hand on your chest and one on your belly — breathe slowly", "seconds": "15"},
          {"text": "Gently massage the web between your thumb and index finger", "seconds": "15"},
          {"text": "Relax your tongue and soften the muscles around your eyes", "seconds": "10"},
          {"text": "Take a slow sip of warm water and notice the warmth", "seconds": "10"},
          {"text": "Rock gently from your heels to your toes 5 times", "seconds": "15"}]},
      "pool": "{group}.{phase}",
      "texts": [
        {"if": {"is_onboarded": "true", "phase": "morning", "streak": {"above": 3}},
          "title": "Day {streak} — your {nickname} rhythm", "body": "{text} ({seconds} sec)"},
        {"if": {"is_onboarded": "true", "phase": "evening", "streak": {"above": 3}},
          "title": "Day {streak} — wind-down time", "body": "{text} ({seconds} sec)"},
        {"if": {"is_onboarded": "true", "phase": "morning"},
          "title": "Your {nickname} body thrives with {principle}", "body": "{text} ({seconds} sec)"},
        {"if": {"is_onboarded": "true", "phase": "evening"},
          "title": "Time to settle your {nickname} pattern", "body": "{text} ({seconds} sec)"},
        {"if": {"phase": "morning"},
          "title": "Good morning", "body": "Your daily routine is ready."},
        {"if": {"phase": "evening"},
          "title": "Good evening", "body": "Your daily routine is ready."}],
      "payload": {"action": "open_do"}
    }
  $json$
where tacet.offers_campaign('ritual')
on conflict do nothing;

-- Asks users back who have stopped coming, where the host has its columns (db/examples/engagement.sql). Its detection is at nine, the
-- earliest time that a user may wish.

insert into tacet.campaigns (
  name, audience, material, push_types, is_active, is_scheduled, needs_no_session, local_time, cap_group, on_push, definition
)
select
  'lapse', 'tacet.lapse_audience', 'tacet.lapse_material', '{reengagement}', false, true, false, '09:00', 'check_in', 'tacet.note_re_engagement',
  $json$
    {
      "layers": ["lapse"],
      "composer": {
        "rules": "plain", "seconds": 2,
        "task": "Welcome back a person who has not opened the app for some days. Be kind, and make it easy to begin again.",
        "facts": ["name", "days_away", "primary_goal", "attempts", "last_workout_type", "personality_traits"]},
      "texts": [{"title": "We miss you!", "body": "Your coach is waiting to help you get back on track."}],
      "payload": {"user_id": "{user_id}", "days_away": "{days_away}"},
      "presentation": {
        "category": "RE_ENGAGEMENT", "interruption_level": "time-sensitive", "collapse_id": "lapse_{days_away}"}
    }
  $json$
where tacet.offers_campaign('lapse')
on conflict do nothing;

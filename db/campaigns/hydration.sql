-- A reminder to drink during the waking hours (db/examples/engagement.sql).

insert into tacet.campaigns (
  name, audience, material, push_types, is_active, is_scheduled, needs_no_session, definition
)
select
  'hydration', 'tacet.hydration_audience', 'tacet.hydration_material', '{hydration}', false, false, false,
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
where tacet.offers_campaign('hydration')
on conflict do nothing;

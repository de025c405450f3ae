-- The coach, who checks in between sessions. It runs where PUSH_TRIGGER_ENABLED is set and the host has its tables
-- (db/examples/coach.sql) or functions that take their place.

insert into tacet.campaigns (
  name, audience, material, push_types, is_active, is_scheduled, needs_no_session, cap_group, definition
)
select
  'coach', 'tacet.check_in_audience', 'tacet.check_in_material', '{event_based,pattern_based,re_engagement}', true, true, true, 'check_in',
  $json$
    {
      "layers": ["event", "pattern", "re_engagement"],
      "composer": {"on_failure": "skip"},
      "payload": {"action": "new_conversation"}
    }
  $json$
where tacet.offers_campaign('coach')
on conflict do nothing;

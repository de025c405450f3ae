-- The campaign ritual: what its texts are made of, and what its actions do.

-- What a ritual's texts are made of: nickname, group, principle, streak and is_onboarded. A terrain that is not known here counts as
-- not known yet.
create or replace function tacet.ritual_material(user_id tacet.user_id, moment timestamptz, time_zone text)
returns table (material jsonb)
language sql stable rows 1
as $$
  select jsonb_build_object(
    'nickname', left(p.nickname, 200), 'group', g.name, 'principle', g.principle,
    'is_onboarded', coalesce(p.is_onboarded and g.name is not null, false),
    'streak', tacet.current_streak(
      ritual_material.user_id, (ritual_material.moment at time zone ritual_material.time_zone)::date))
  from (values (1)) as one
  left join lateral (select * from tacet.ritual_profile(ritual_material.user_id) limit 1) p on true
  left join (
    values
      ('cold_deficient', 'cold', 'warmth'), ('cold_balanced', 'cold', 'warmth'),
      ('warm_excess', 'warm', 'calm'), ('warm_deficient', 'warm', 'calm'), ('warm_balanced', 'warm', 'calm'),
      ('neutral_balanced', 'neutral', 'balance'), ('neutral_deficient', 'neutral', 'balance'),
      ('neutral_excess', 'neutral', 'balance')
  ) as g (terrain_type, name, principle) on g.terrain_type = p.terrain_type
$$;

-- What an action of a ritual does: DID_THIS completes the day, and answers the streak.
create or replace function tacet.ritual_action(user_id tacet.user_id, action text, day date, moment timestamptz)
returns jsonb
language plpgsql volatile
as $$
begin
  if action <> 'DID_THIS' then
    return '{}';
  end if;
  perform tacet.complete_micro_action(ritual_action.user_id, ritual_action.day, ritual_action.moment);
  return jsonb_build_object('streak', tacet.current_streak(ritual_action.user_id, ritual_action.day));
end
$$;

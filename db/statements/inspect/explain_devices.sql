-- Returns the devices of users that are in use, by the host contract.
--
--   :user_ids  tacet.user_id[]  the users; the documents are in their order

select coalesce(
  (
    select jsonb_agg(jsonb_build_object(
      'device', left(tacet.target_mark(t.channel, t.address), 8), 'channel', left(t.channel, 32), 'app', left(t.app, 256),
      'environment', left(t.environment, 32))
      order by t.channel, t.address)
    from (select d.* from tacet.push_targets(u.user_id) d limit 20) t
  ),
  '[]')::text
from unnest(:user_ids) with ordinality as u (user_id, place)
order by u.place;

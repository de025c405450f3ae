-- Returns the devices of users that were dropped last, with the platforms of the contract's default.
--
--   :user_ids  tacet.user_id[]  the users; the documents are in their order
--
-- Reads the default's table, because the host contract has no function for dropped tokens.

select coalesce(
  (
    select jsonb_agg(jsonb_build_object(
      'device', left(t.device_token, 8), 'app', left(t.app, 256), 'environment', left(t.environment, 32),
      'droppedAt',
      case when isfinite(t.invalidated_at) then (extract(epoch from t.invalidated_at) * 1000000)::bigint end,
        'dropReason', left(t.invalidation_reason, 256))
      order by t.invalidated_at, t.device_token)
    from (
      select d.device_token, d.app, d.environment, d.invalidated_at, d.invalidation_reason
      from public.push_tokens d
      where d.user_id = u.user_id and d.invalidated_at is not null
        and lower(d.platform) in ('ios', 'ipados', 'macos', 'watchos', 'tvos', 'visionos', 'apns')
      order by d.invalidated_at desc
      limit 20
    ) t
  ),
  '[]')::text
from unnest(:user_ids) with ordinality as u (user_id, place)
order by u.place;

-- Returns the devices of users that were dropped last, with the platforms of the contract's default.
--
--   :user_ids  tacet.user_id[]  the users; the documents are in their order
--
-- Reads the default's table, because the host contract has no function for dropped tokens.

select coalesce(
  (
    select jsonb_agg(jsonb_build_object(
      'device', left(tacet.target_mark(t.channel, t.address), 8), 'channel', left(t.channel, 32), 'app', left(t.app, 256), 'environment', left(t.environment, 32),
      'droppedAt',
      case when isfinite(t.invalidated_at) then tacet.unix_us(t.invalidated_at) end,
        'dropReason', left(t.invalidation_reason, 256))
      order by t.invalidated_at, t.address)
    from (
      (
        select 'apns' as channel, d.device_token as address, d.app, d.environment, d.invalidated_at, d.invalidation_reason
        from public.push_tokens d
        where d.user_id = u.user_id and d.invalidated_at is not null
          and lower(d.platform) in ('ios', 'ipados', 'macos', 'watchos', 'tvos', 'visionos', 'apns')
        order by d.invalidated_at desc
        limit 20
      )
      union all
      (
        select x.channel, x.address, x.app, null, x.dropped_at, x.drop_reason
        from tacet.targets x
        where x.user_id = u.user_id and x.dropped_at is not null
        order by x.dropped_at desc
        limit 20
      )
      order by 5 desc
      limit 20
    ) t
  ),
  '[]')::text
from unnest(:user_ids) with ordinality as u (user_id, place)
order by u.place;

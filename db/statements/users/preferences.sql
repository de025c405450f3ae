-- Returns a user's preferences in one row; nulls and empty arrays for a user without any.
--
--   :user_id  tacet.user_id  the user

select
  (extract(epoch from p.quiet_start) / 60)::int4 as quiet_start,
  (extract(epoch from p.quiet_end) / 60)::int4 as quiet_end,
  p.quiet_zone, p.quiet_policy, p.content, coalesce(p.disabled_kinds, '{}') as disabled_kinds,
  c.ids, c.muted, c.muted_until, c.mentions_only, u.unread_kinds, u.unread_seconds
from (values (1)) as one
left join tacet.preferences p on p.user_id = :user_id
cross join lateral (
  select
    coalesce(array_agg(x.conversation_id order by x.conversation_id), '{}') as ids,
    coalesce(array_agg(x.is_muted order by x.conversation_id), '{}') as muted,
    coalesce(
      array_agg((extract(epoch from x.muted_until) * 1000000)::bigint order by x.conversation_id), '{}'
    ) as muted_until,
    coalesce(array_agg(x.mentions_only order by x.conversation_id), '{}') as mentions_only
  from tacet.conversation_preferences x
  where x.user_id = :user_id
) c
cross join lateral (
  select
    coalesce(array_agg(x.kind order by x.kind), '{}') as unread_kinds,
    coalesce(array_agg(extract(epoch from x.after)::bigint order by x.kind), '{}') as unread_seconds
  from tacet.unread_preferences x
  where x.user_id = :user_id
) u;

internal import Postgres

extension PushStatements {
  /// A user's preferences in one row; nulls and empty arrays for a user who never said anything.
  static let preferences = PostgresStatement(
    "preferences",
    """
    select
      (extract(epoch from p.quiet_start) / 60)::int4 as quiet_start,
      (extract(epoch from p.quiet_end) / 60)::int4 as quiet_end,
      p.quiet_zone, p.quiet_policy, coalesce(p.disabled_kinds, '{}') as disabled_kinds,
      c.ids, c.muted, c.muted_until, c.mentions_only
    from (values (1)) as one
    left join tacet.preferences p on p.user_id = $1
    cross join lateral (
      select
        coalesce(array_agg(x.conversation_id order by x.conversation_id), '{}') as ids,
        coalesce(array_agg(x.is_muted order by x.conversation_id), '{}') as muted,
        coalesce(
          array_agg((extract(epoch from x.muted_until) * 1000000)::bigint order by x.conversation_id), '{}'
        ) as muted_until,
        coalesce(array_agg(x.mentions_only order by x.conversation_id), '{}') as mentions_only
      from tacet.conversation_preferences x
      where x.user_id = $1
    ) c
    """,
    [.uuid])

  /// Replaces a user's preferences, unless their time zone is none; answers whether it did.
  ///
  /// `$1`: the user. `$2`, `$3`: the minutes of quiet hours; `$4`, `$5`: their zone and policy. `$6`: disabled kinds.
  /// `$7`–`$10`: conversations, in columns of equal length.
  static let putPreferences = PostgresStatement(
    "put_preferences",
    """
    with \(durable), put as materialized (
      select
        tacet.put_preferences(
          $1, time '00:00' + $2 * interval '1 minute', time '00:00' + $3 * interval '1 minute', zone.known, $5, $6, $7, $8,
          array(
            select timestamptz 'epoch' + u.us * interval '1 microsecond'
            from unnest($9) with ordinality as u (us, place)
            order by u.place),
          $10)
      from durable
      cross join (select tacet.known_zone($4) as known offset 0) zone
      where $4::text is null or zone.known is not null
    )
    select count(*) = 1 from put
    """,
    [
      .uuid, .int4, .int4, .text, .text, .array(of: .text), .array(of: .uuid), .array(of: .bool), .array(of: .int8),
      .array(of: .bool),
    ])
}

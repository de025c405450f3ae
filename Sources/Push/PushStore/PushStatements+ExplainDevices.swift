internal import Postgres

// As in `PushStatements+Explain.swift`: the devices of users, and the processes that have served them.
extension PushStatements {
  /// The devices of users that are in use, by the host contract. `$1`: the users; answered in their order.
  static let explainDevices = PostgresStatement(
    "explain_devices",
    """
    select coalesce(
      (
        select jsonb_agg(jsonb_build_object(
          'device', left(t.device_token, 8), 'app', left(t.app, 256), 'environment', left(t.environment, 32))
          order by t.device_token)
        from (select d.* from tacet.device_tokens(u.user_id) d limit 20) t
      ),
      '[]')::text
    from unnest($1) with ordinality as u (user_id, place)
    order by u.place
    """,
    [.array(of: .uuid)])

  /// The devices of users that were dropped last, with the platforms of the contract's default. `$1`, answers: as above.
  ///
  /// Reads the default's table, because the host contract tells nothing of dropped tokens.
  static let explainDroppedDevices = PostgresStatement(
    "explain_dropped_devices",
    """
    select coalesce(
      (
        select jsonb_agg(jsonb_build_object(
          'device', left(t.device_token, 8), 'app', left(t.app, 256), 'environment', left(t.environment, 32),
          'droppedAt', \(microseconds("t.invalidated_at")), 'dropReason', left(t.invalidation_reason, 256))
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
    from unnest($1) with ordinality as u (user_id, place)
    order by u.place
    """,
    [.array(of: .uuid)])

  /// Processes of the service. `$1`: their ids.
  static let explainInstances = PostgresStatement(
    "explain_instances",
    """
    select jsonb_build_object('id', i.id, 'host', i.host, 'pid', i.pid)::text
    from tacet.instances i
    where i.id = any ($1)
    """,
    [.array(of: .text)])
}

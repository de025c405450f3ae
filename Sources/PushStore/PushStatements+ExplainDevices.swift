internal import Postgres

// As in `PushStatements+Explain.swift`: the devices of users, and the processes that have served them.
extension PushStatements {
  /// The devices of users, those in use and the ones that were dropped last. `$1`: the users; answered in their order.
  ///
  /// Reads the default's table, because the host contract tells nothing of dropped tokens.
  static let explainDevices = PostgresStatement(
    "explain_devices",
    """
    select coalesce(jsonb_agg(jsonb_build_object(
      'device', left(t.device_token, 8), 'app', t.app, 'environment', t.environment,
      'droppedAt', \(microseconds("t.invalidated_at")), 'dropReason', t.invalidation_reason)
      order by t.invalidated_at nulls first, t.device_token) filter (where t.device_token is not null), '[]')::text
    from unnest($1) with ordinality as u (user_id, place)
    left join lateral (
      (
        select d.device_token, d.app, d.environment, d.invalidated_at, d.invalidation_reason
        from public.push_tokens d
        where d.user_id = u.user_id and d.invalidated_at is null
        limit 20
      )
      union all
      (
        select d.device_token, d.app, d.environment, d.invalidated_at, d.invalidation_reason
        from public.push_tokens d
        where d.user_id = u.user_id and d.invalidated_at is not null
        order by d.invalidated_at desc
        limit 20
      )
    ) t on true
    group by u.place
    order by u.place
    """,
    [.array(of: .uuid)])

  /// The same of the tokens in use alone, by the host contract: for a host whose tables are other ones.
  static let explainDevicesInUse = PostgresStatement(
    "explain_devices_in_use",
    """
    select coalesce(
      (
        select jsonb_agg(jsonb_build_object(
          'device', left(t.device_token, 8), 'app', t.app, 'environment', t.environment))
        from tacet.device_tokens(u.user_id) t
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

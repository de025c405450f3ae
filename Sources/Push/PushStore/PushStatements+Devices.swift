internal import Postgres

extension PushStatements {
  /// Registers a device, unless its time zone is none; answers whether it did.
  ///
  /// `$1`: the user. `$2`: the token. `$3`–`$7`: environment, app, platform, locale and time zone, each may be null.
  /// `$8`: devices that the user keeps.
  static let registerDevice = PostgresStatement(
    "register_device",
    """
    with \(durable), registered as materialized (
      select tacet.register_device($1, $2, $3, $4, $5, $6, zone.known, $8)
      from durable
      cross join (select tacet.known_zone($7) as known offset 0) zone
      where $7::text is null or zone.known is not null
    )
    select count(*) = 1 from registered
    """,
    [.uuid, .text, .text, .text, .text, .text, .text, .int4])

  /// Ends a session on a device; answers false when the token is another user's.
  ///
  /// `$1`: the user. `$2`: the token.
  static let removeDevice = PostgresStatement(
    "remove_device", "with \(durable) select tacet.remove_device($1, $2) from durable", [.uuid, .text])
}

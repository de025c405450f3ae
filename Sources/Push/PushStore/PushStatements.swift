/// Every SQL statement the service runs against its own tables and the host contract; nothing else writes SQL.
///
/// They are prepared once per connection, under these names.
enum PushStatements {
  /// A table expression that makes the commit wait for the disk, whatever the session's other ones do; the statement must
  /// read it. For what no transaction of the host stands behind and nobody says again.
  static let durable = "durable as materialized (select set_config('synchronous_commit', 'on', true))"
}

/// A statement that is prepared once per connection and then run by its name.
///
/// Make it once, as a static value; the name is what a connection remembers it by, so two statements of one process
/// must not share a name.
///
/// ```swift
/// static let markRead = PostgresStatement(
///   "mark_read", "update tacet.reads set read_at = now() where user_id = $1", [.uuid])
/// ```
public struct PostgresStatement: Sendable {
  /// The name on the server, at most 63 bytes; also in errors and logs.
  public let name: String

  /// One SQL statement with parameters `$1`, `$2`, and so on.
  public let sql: String

  /// The types of the parameters, in order.
  public let parameterTypes: [PostgresType]

  /// Makes a statement; nothing is sent before its first use.
  public init(_ name: String, _ sql: String, _ parameterTypes: [PostgresType] = []) {
    precondition(!name.isEmpty && name.utf8.count <= 63, "a statement name has 1 to 63 bytes")
    self.name = name
    self.sql = sql
    self.parameterTypes = parameterTypes
  }
}

extension PostgresStatement {
  static let begin = PostgresStatement("begin", "begin")
  static let commit = PostgresStatement("commit", "commit")
  static let rollback = PostgresStatement("rollback", "rollback")
  static let heartbeat = PostgresStatement("heartbeat", "select 1")
}

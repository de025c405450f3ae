/// A statement. It is prepared once per connection and then run by its name, or in transaction mode sent whole each time.
///
/// Make it once, as a static value. Connections remember it by its name, so names must be unique in the process.
///
/// ```swift
/// static let markRead = PostgresStatement(
///   "mark_read", "update tacet.reads set read_at = now() where user_id = $1", [.uuid])
/// ```
public struct PostgresStatement: Sendable {
  /// The name on the server, in errors and in logs; at most 63 bytes.
  public let name: String

  /// One SQL statement with parameters `$1`, `$2`, and so on.
  public let sql: String

  /// The types of the parameters, in order.
  public let parameterTypes: [PostgresType]

  /// Whether it begins or ends a transaction. No settings may precede it: in a failed transaction they would fail, and the
  /// ROLLBACK with them.
  let controlsTransaction: Bool

  /// Makes a statement. Nothing is sent before its first use.
  public init(_ name: String, _ sql: String, _ parameterTypes: [PostgresType] = []) {
    precondition(!name.isEmpty && name.utf8.count <= 63, "a statement name has 1 to 63 bytes")
    self.name = name
    self.sql = sql
    self.parameterTypes = parameterTypes
    controlsTransaction = false
  }

  private init(controlling sql: String) {
    name = sql
    self.sql = sql
    parameterTypes = []
    controlsTransaction = true
  }
}

extension PostgresStatement {
  static let begin = PostgresStatement(controlling: "begin")
  static let commit = PostgresStatement(controlling: "commit")
  static let rollback = PostgresStatement(controlling: "rollback")
  static let heartbeat = PostgresStatement("heartbeat", "select 1")
}

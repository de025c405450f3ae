/// A statement that is prepared once per connection and then run by its name, or, where sessions are lent by
/// transactions, sent whole each time.
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

  /// Whether it begins or ends a transaction. Nothing may go before it: in a failed transaction that would fail too, and
  /// take the ROLLBACK with it.
  let controlsTransaction: Bool

  /// Makes a statement; nothing is sent before its first use.
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

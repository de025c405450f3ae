/// A statement. It is prepared once per connection and then run by its name, or in transaction mode sent whole each time.
///
/// Make it once, as a static value. Connections remember it by its name, so names must be unique in the process.
///
/// ```swift
/// static let markRead = PostgresStatement(
///   "mark_read", "update tacet.reads set read_at = now() where user_id = $1", [.uuid])
/// ```
package struct PostgresStatement: Sendable {
  /// The name on the server, in errors and in logs; at most 63 bytes.
  package let name: String

  /// One SQL statement with parameters `$1`, `$2`, and so on.
  package let sql: String

  package let parameterTypes: [PostgresType]

  /// Whether ``parameterTypes`` has types that differ between databases.
  private let hasChosenTypes: Bool

  /// Whether it begins or ends a transaction. No settings may precede it: in a failed transaction they would fail, and the
  /// ROLLBACK with them.
  let controlsTransaction: Bool

  /// Makes a statement. Nothing is sent before its first use.
  package init(_ name: String, _ sql: String, _ parameterTypes: [PostgresType] = []) {
    precondition(!name.isEmpty && name.utf8.count <= 63, "a statement name has 1 to 63 bytes")
    self.init(name, sql, parameterTypes, hasChosenTypes: parameterTypes.contains(where: \.isChosen))
  }

  private init(_ name: String, _ sql: String, _ parameterTypes: [PostgresType], hasChosenTypes: Bool) {
    self.name = name
    self.sql = sql
    self.parameterTypes = parameterTypes
    self.hasChosenTypes = hasChosenTypes
    controlsTransaction = false
  }

  /// The statement with the types of one database.
  package func resolved(by chosen: [PostgresType]) -> PostgresStatement {
    guard hasChosenTypes else { return self }
    return PostgresStatement(name, sql, parameterTypes.map { $0.resolved(by: chosen) }, hasChosenTypes: false)
  }

  private init(controlling sql: String) {
    name = sql
    self.sql = sql
    parameterTypes = []
    hasChosenTypes = false
    controlsTransaction = true
  }
}

extension PostgresStatement {
  static let begin = PostgresStatement(controlling: "begin")
  static let commit = PostgresStatement(controlling: "commit")
  static let rollback = PostgresStatement(controlling: "rollback")
  static let heartbeat = PostgresStatement("heartbeat", "select 1")
}

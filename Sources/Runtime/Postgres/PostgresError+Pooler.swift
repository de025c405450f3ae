extension PostgresError {
  /// What an operator should look at, when the failure is one that a pooler in transaction mode brings about; empty for
  /// all others. The setting is the service's, named here because every log line that tells of the failure shows this.
  var likelyCause: String {
    if code == .deaf { return ": a half-open connection, or \(Self.pooler)" }
    return isOfPooler ? ": perhaps \(Self.pooler)" : ""
  }

  private static let pooler = "a pooler in transaction mode, which needs DATABASE_POOL_MODE=transaction"

  /// PgBouncer refuses session settings in the connection request; a session that is not ours alone lacks the statements
  /// that we have prepared, or has those of others.
  private var isOfPooler: Bool {
    switch sqlState {
    case .invalidStatementName, .duplicatePreparedStatement: true
    default: code == .notConnected && message.contains("unsupported startup parameter")
    }
  }
}

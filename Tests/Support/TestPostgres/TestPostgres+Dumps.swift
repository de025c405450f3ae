import TestProcesses

extension TestPostgres {
  /// What `pg_dump` writes of a database's schema, rights included, without owners; the same for equal schemas.
  public func dumpSchema(of database: String, _ options: [String] = []) async throws -> String {
    let connection = conninfo(database: database)
    let dump = try await onOwnThread {
      try run([Self.binaries + "/pg_dump", "--schema-only", "--no-owner", "-d", connection] + options)
    }
    // Newer versions write a random token.
    return dump.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.hasPrefix("\\restrict") && !$0.hasPrefix("\\unrestrict") }.joined(separator: "\n")
  }
}

import TestProcesses

extension TestPostgres {
  /// What `pg_dump` writes of a database's schema, rights included, without owners; the same for equal schemas.
  package func dumpSchema(of database: String, _ options: [String] = []) async throws -> String {
    let connection = conninfo(database: database)
    let dump = try await onOwnThread {
      try run([Self.binaries + "/pg_dump", "--schema-only", "--no-owner", "-d", connection] + options)
    }
    // Newer versions write a random token.
    return dump.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.hasPrefix("\\restrict") && !$0.hasPrefix("\\unrestrict") }.joined(separator: "\n")
  }

  /// Restores a database's own dump over it.
  package func restoreInPlace(_ database: String) async throws {
    let connection = conninfo(database: database)
    _ = try await onOwnThread {
      try run([
        "/bin/sh", "-c",
        #"dump=$(mktemp) && "$1" -Fc -f "$dump" -d "$3" && "$2" --clean -d "$3" "$dump" && rm "$dump""#,
        "restore", Self.binaries + "/pg_dump", Self.binaries + "/pg_restore", connection,
      ])
    }
  }
}

internal import Logging
internal import Postgres
internal import PushStore
package import TestPostgres
internal import TestReactors

extension TestPostgres {
  /// A new database with the host's tables and everything of `tacet migrate`. The migrations run once, and each database is a
  /// copy: a third of the time.
  package func makeMigratedDatabase() async throws -> ScratchDatabase {
    try await makeScratchDatabase(preparedBy: { conninfo in
      try await onReactor { reactor in
        try await Migrator.run(
          in: PostgresConfiguration(conninfo: conninfo), createsHostTables: true, ids: .tested,
          logger: Logger(label: "template") { _ in SwiftLogNoOpLogHandler() }, on: reactor
        ) { _, _ in }
      }
    })
  }
}

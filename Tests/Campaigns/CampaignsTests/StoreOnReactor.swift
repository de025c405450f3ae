import Logging
import Postgres
import PushRules
import PushStore
import Reactors
import TestIDs
import TestPostgres

/// Runs a body with the store of a database, on a reactor of its own.
func withDatabase(
  named database: String, on server: TestPostgres, logger: Logger,
  _ body: @escaping @Sendable (PushDatabase, isolated Reactor) async throws -> Void
) async throws {
  let group = try ReactorGroup(count: 1)
  let conninfo = server.conninfo(database: database)
  let result: Result<Void, any Error>
  do {
    try await group.reactors[0].perform { reactor in
      var configuration = PostgresConfiguration(conninfo: conninfo)
      configuration.chosenTypes = IDTypes.tested.postgresTypes
      configuration.settings = PushDatabase.serviceSettings
      let pool = PostgresPool(configuration, size: 4, logger: logger)
      pool.start(on: reactor)
      do {
        try await body(PushDatabase(pool: pool), reactor)
      } catch {
        await pool.close(on: reactor)
        throw error
      }
      await pool.close(on: reactor)
    }
    result = .success(())
  } catch {
    result = .failure(error)
  }
  await group.stop()
  try result.get()
}

import Postgres
import PushStore
import Reactors
import Settings

/// One session with the database, for a command that only reads.
enum OperatorSession {
  /// Opens the session, runs the body on a reactor of its own, and closes both.
  static func perform<Result: Sendable>(
    _ settings: ExplainSettings, _ body: @escaping @Sendable (PushDatabase, isolated Reactor) async throws -> Result
  ) async throws -> Result {
    let group = try ReactorGroup(count: 1)
    do {
      let result = try await group.reactors[0].perform { try await run(settings, body, on: $0) }
      await group.stop()
      return result
    } catch {
      await group.stop()
      throw error
    }
  }

  private static func run<Result: Sendable>(
    _ settings: ExplainSettings, _ body: (PushDatabase, isolated Reactor) async throws -> Result,
    on reactor: isolated Reactor
  ) async throws -> Result {
    var configuration = PostgresConfiguration(conninfo: settings.database.connectionString.exposed)
    configuration.applicationName = "tacet explain"
    configuration.poolMode = settings.database.poolMode == .transaction ? .transaction : .session
    configuration.settings = PushDatabase.sessionSettings
    configuration.settings["default_transaction_read_only"] = "on"
    let pool = PostgresPool(
      configuration, size: 1, acquireLimit: .seconds(5), logger: settings.log.makeLogger(label: "tacet.explain"))
    pool.start(on: reactor)
    let result: Swift.Result<Result, any Error>
    do {
      result = .success(try await body(PushDatabase(pool: pool, lookLimit: .seconds(30)), reactor))
    } catch {
      result = .failure(error)
    }
    await pool.close(on: reactor)
    return try result.get()
  }
}

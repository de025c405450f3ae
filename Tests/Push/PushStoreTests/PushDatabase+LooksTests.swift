import Postgres
import Reactors
import TestReactors
import Testing

@testable import PushStore

@Suite("An operator's look")
struct PushDatabaseLooksTests {
  private static let sleep = PostgresStatement("sleep", "select pg_sleep(30)::text")

  private func withOperators<Value: Sendable>(
    limit: Duration = PushDatabase.lookLimit,
    _ body: @escaping @Sendable (PushDatabase, isolated Reactor) async throws -> Value
  ) async throws -> Value {
    let database = try await TestDatabase.migrated()
    return try await onReactor { reactor in
      let pool = PushDatabase.operatorPool(database.configuration, limit: limit, logger: quiet)
      let result: Result<Value, any Error>
      do {
        result = .success(try await body(PushDatabase(pool: pool), reactor))
      } catch {
        result = .failure(error)
      }
      await pool.close(on: reactor)
      return try result.get()
    }
  }

  @Test(
    "it only reads, each statement for two seconds at the most, a count of all users for twenty",
    arguments: [(PushDatabase.lookLimit, "2s"), (PushDatabase.countLimit, "20s")])
  func settings(_ limit: Duration, _ shown: String) async throws {
    let settings = try await withOperators(limit: limit) { operators, reactor in
      try await operators.look(on: reactor) { look in
        let statement = PostgresStatement(
          "settings", "select current_setting('statement_timeout'), current_setting('transaction_read_only')")
        let row = try await look.query(StatementCall(statement, []), on: reactor).one()
        return [try row.decode(0, as: String.self), try row.decode(1)]
      }
    }
    #expect(settings == [shown, "on"])
  }

  @Test("looks take turns, and who waits longer than one may take is refused")
  func turns() async throws {
    let codes = try await withOperators { operators, reactor in
      let looks = (0..<2).map { _ in
        Begun.begin(on: reactor) { () -> PostgresError.Code? in
          do {
            _ = try await operators.look(on: reactor) { try await $0.query(StatementCall(Self.sleep, []), on: reactor) }
            return nil
          } catch let error as PostgresError {
            return error.code
          }
        }
      }
      return [try await looks[0].value(on: reactor), try await looks[1].value(on: reactor)]
    }
    // The server and the client end the first at about the same time.
    #expect(codes[0] == .timedOut || codes[0] == .server)
    #expect(codes[1] == .notConnected || codes[1] == .timedOut)
  }
}

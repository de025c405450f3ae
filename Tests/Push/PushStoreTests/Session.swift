import Logging
package import Postgres
import PushRules
import PushStore
import Reactors
import TestIDs
import TestLogs
import TestReactors
internal import Testing

let quiet = RunLogs.logger

/// One of several sessions of a test, to be led step by step.
struct Session {
  let connection: PostgresConnection
  /// The server process, as locks and statistics name it.
  let processID: String

  static func open(_ database: TestDatabase, on reactor: isolated Reactor) async throws -> Session {
    var configuration = database.configuration
    configuration.connectLimit = patience
    configuration.statementLimit = nil
    let connection = try await PostgresConnection.connect(configuration, logger: quiet, on: reactor)
    let statement = PostgresStatement("pid", "select pg_backend_pid()::text")
    return Session(
      connection: connection, processID: try await connection.query(statement, on: reactor).one().decode(0))
  }

  /// Runs statements whose rows do not matter.
  func run(_ sql: String, on reactor: isolated Reactor) async throws {
    try await connection.simple(IDTypes.tested(sql), on: reactor)
  }

  /// The value of an expression as text; nil for a null.
  func value(_ expression: String, on reactor: isolated Reactor) async throws -> String? {
    let statement = PostgresStatement("value_\(expression.hashValue)", IDTypes.tested("select (\(expression))::text"))
    return try await connection.query(statement, on: reactor).one().decode(0, as: String?.self)
  }

  /// The rows of a query as one text: rows by lines, columns as PostgreSQL shows a record.
  func rows(_ query: String, on reactor: isolated Reactor) async throws -> String {
    try await value("select string_agg(r::text, E'\\n') from (\(query)) r", on: reactor) ?? ""
  }

  /// Returns once another session waits for a lock.
  func awaitBlocked(_ other: Session, on reactor: isolated Reactor) async throws {
    try await awaitTrue("select cardinality(pg_blocking_pids(\(other.processID))) > 0", on: reactor)
  }

  /// Returns once a query says true. There is no event to wait on but the server's own view of its sessions.
  func awaitTrue(_ query: String, on reactor: isolated Reactor) async throws {
    let deadline = ContinuousClock.now + patience
    while try await value(query, on: reactor) != "true" { try #require(ContinuousClock.now < deadline, "\(query)") }
  }
}

/// Opens sessions, and closes them at the end.
func withSessions(
  _ database: TestDatabase, _ count: Int,
  _ body: @escaping @Sendable ([Session], isolated Reactor) async throws -> Void
) async throws {
  try await onReactor { reactor -> Void in
    var sessions: [Session] = []
    for _ in 0..<count { sessions.append(try await Session.open(database, on: reactor)) }
    let result: Result<Void, any Error>
    do {
      try await body(sessions, reactor)
      result = .success(())
    } catch {
      result = .failure(error)
    }
    for session in sessions { session.connection.close(on: reactor) }
    try result.get()
  }
}

/// Opens two sessions, and closes them at the end.
func withTwoSessions(
  _ database: TestDatabase, _ body: @escaping @Sendable (Session, Session, isolated Reactor) async throws -> Void
) async throws {
  try await withSessions(database, 2) { sessions, reactor in try await body(sessions[0], sessions[1], reactor) }
}

/// Opens a connection, and closes it at the end.
func onConnection<Value: Sendable>(
  to database: TestDatabase, _ body: @escaping @Sendable (PostgresConnection, isolated Reactor) async throws -> Value
) async throws -> Value {
  try await onReactor { reactor in
    let session = try await Session.open(database, on: reactor)
    defer { session.connection.close(on: reactor) }
    return try await body(session.connection, reactor)
  }
}

/// Opens a store over a pool of its own, and closes it at the end.
func withStore<Value: Sendable>(
  _ database: TestDatabase, sessions: Int = 1,
  _ body: @escaping @Sendable (PushDatabase, isolated Reactor) async throws -> Value
) async throws -> Value {
  try await onReactor { reactor in
    let pool = PostgresPool(database.configuration, size: sessions, acquireLimit: patience, logger: quiet)
    pool.start(on: reactor)
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

/// Claims everything that waits, or less.
func claim(
  _ database: TestDatabase, eventsMax: Int = 1000, lease: Duration = .seconds(60)
) async throws -> [PushEvent] {
  try await withStore(database) { store, reactor in
    try await store.claim(ClaimLimits(eventsMax: eventsMax, deliveriesMax: 1000, lease: lease), on: reactor)
  }
}

/// Work begun on the reactor whose result is asked for later.
final class Begun<Value> {
  private var result: Result<Value, any Error>?
  private let done = Signal()

  /// Begins when the caller suspends.
  static func begin(on reactor: isolated Reactor, _ work: @escaping () async throws -> Value) -> Begun {
    let begun = Begun()
    reactor.start {
      do {
        begun.result = .success(try await work())
      } catch {
        begun.result = .failure(error)
      }
      begun.done.signal(on: reactor)
    }
    return begun
  }

  var isFinished: Bool { result != nil }

  func value(on reactor: isolated Reactor) async throws -> Value {
    if result == nil { try #require(await done.wait(for: patience, on: reactor)) }
    return try #require(result).get()
  }
}

/// Longer than anything takes on a busy machine; only a failing test waits so long.
let patience = Duration.seconds(30)

extension PostgresError: CustomTestStringConvertible {
  /// A failing test shows the server's message as well.
  package var testDescription: String { debugDescription }
}

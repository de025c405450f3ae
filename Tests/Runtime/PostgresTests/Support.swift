import Logging
import Postgres
import Reactors
import TestLogs
import TestPostgres
import TestReactors
import Testing

let quiet = RunLogs.logger

/// Longer than anything takes on a busy machine; only a failing test waits so long.
let patience = Duration.seconds(30)

/// A connection to the shared cluster or another one, closed at the end.
func withConnection(
  to conninfo: String? = nil, logger: Logger = quiet,
  _ configure: @escaping @Sendable (inout PostgresConfiguration) -> Void = { _ in },
  _ body: @escaping @Sendable (PostgresConnection, isolated Reactor) async throws -> Void
) async throws {
  var configuration = PostgresConfiguration(conninfo: try await TestPostgres.shared.conninfo())
  if let conninfo { configuration = PostgresConfiguration(conninfo: conninfo) }
  configure(&configuration)
  try await onReactor { [configuration] reactor in
    let connection = try await PostgresConnection.connect(configuration, logger: logger, on: reactor)
    let result = await Result(awaiting: { () async throws in try await body(connection, reactor) })
    connection.close(on: reactor)
    try result.get()
  }
}

/// A pool that is started, and closed at the end. Its limits are far above what a slow machine needs to stop a server.
func withPool(
  _ conninfo: String, size: Int = 4, acquireLimit: Duration = patience,
  configure: @escaping @Sendable (inout PostgresConfiguration) -> Void = { _ in },
  _ body: @escaping @Sendable (PostgresPool, isolated Reactor) async throws -> Void
) async throws {
  try await onReactor { reactor in
    var configuration = PostgresConfiguration(conninfo: conninfo)
    configuration.statementLimit = .seconds(60)
    configuration.answerLimit = .seconds(60)
    configure(&configuration)
    let pool = PostgresPool(configuration, size: size, acquireLimit: acquireLimit, logger: quiet)
    pool.start(on: reactor)
    let result = await Result(awaiting: { () async throws in try await body(pool, reactor) })
    await pool.close(on: reactor)
    try result.get()
  }
}

extension PostgresPool {
  /// Waits until so many sessions are open.
  func awaitOpen(_ count: Int, on reactor: isolated Reactor) async {
    while openCount < count { await reactor.sleep(for: .milliseconds(1)) }
  }
}

/// Runs work that must fail with a `PostgresError`; the error.
func failure(
  _ work: () async throws -> Void
) async throws -> PostgresError {
  do {
    try await work()
  } catch let error as PostgresError {
    return error
  }
  throw UnexpectedSuccess()
}

struct UnexpectedSuccess: Error {}

let sleepStatement = PostgresStatement("sleep", "select pg_sleep($1)", [.float8])
let one = PostgresStatement("one", "select 1")
let echo = PostgresStatement("echo", "select $1", [.int8])
let port = PostgresStatement("port", "select current_setting('port')::int")

/// Starts one task each for `0..<count` on the reactor, in order; their results in that order.
func inParallel<Value>(
  _ count: Int, on reactor: isolated Reactor, _ work: @escaping (Int) async throws -> Value
) async throws -> [Value] {
  let gathering = Gathering<Value>(count)
  for number in 0..<count {
    reactor.start {
      gathering.results[number] = await Result(awaiting: { () async throws -> Value in try await work(number) })
      gathering.left -= 1
      if gathering.left == 0 { gathering.done.signal(on: reactor) }
    }
  }
  #expect(await gathering.done.wait(for: .seconds(60), on: reactor))
  return try gathering.results.map { try #require($0).get() }
}

private final class Gathering<Value> {
  var results: [Result<Value, any Error>?]
  var left: Int
  let done = Signal()

  init(_ count: Int) {
    results = .init(repeating: nil, count: count)
    left = count
  }
}

/// What a listener has told.
final class ListenerRecorder: PostgresListenerHandler {
  private(set) var notifications: [PostgresNotify] = []
  private(set) var state = ""
  private var timesListening = 0
  private let changed = Signal()

  func notificationArrived(_ notification: PostgresNotify, on reactor: isolated Reactor) {
    notifications.append(notification)
    changed.signal(on: reactor)
  }

  func listenerStateChanged(_ state: PostgresListener.State, on reactor: isolated Reactor) {
    switch state {
    case .listening:
      self.state = "listening"
      timesListening += 1
    case .lost: self.state = "lost"
    }
    changed.signal(on: reactor)
  }

  func awaitState(_ wanted: String, on reactor: isolated Reactor) async throws {
    while state != wanted { try #require(await changed.wait(for: patience, on: reactor)) }
  }

  func awaitListening(times: Int, on reactor: isolated Reactor) async throws {
    while timesListening < times { try #require(await changed.wait(for: patience, on: reactor)) }
  }

  func awaitNotifications(_ count: Int, on reactor: isolated Reactor) async throws {
    while notifications.count < count { try #require(await changed.wait(for: patience, on: reactor)) }
  }
}

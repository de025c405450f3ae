import DequeModule
import Logging
import Postgres
import Reactors

/// The host's connections to its database, each used by one statement at a time, as by a backend with a pool.
///
/// Who finds none free waits in order. The one that was used last is taken first.
final class HostSessions {
  private var all: [PostgresConnection] = []
  private var free: [PostgresConnection] = []
  private var waiters = Deque<Turn>()

  /// One that waits, and what it gets.
  private final class Turn {
    let signal = Signal()
    var connection: PostgresConnection?
  }

  /// Connects, and prepares statements on every connection, so that none is prepared while something is measured.
  static func open(
    _ count: Int, to conninfo: String, preparing statements: [PostgresStatement], on reactor: isolated Reactor
  ) async throws -> HostSessions {
    let sessions = HostSessions()
    for _ in 0..<count {
      let connection = try await PostgresConnection.connect(
        .bench(conninfo, application: "host"), logger: Logger(label: "host"), on: reactor)
      sessions.all.append(connection)
      for statement in statements { try await connection.prepare(statement, on: reactor) }
    }
    sessions.free = sessions.all
    return sessions
  }

  var count: Int { all.count }

  func close(on reactor: isolated Reactor) {
    for connection in all { connection.close(on: reactor) }
  }

  /// A connection for one statement; give it back.
  func take(on reactor: isolated Reactor) async -> PostgresConnection {
    if let connection = free.popLast() { return connection }
    let turn = Turn()
    waiters.append(turn)
    _ = await turn.signal.wait(on: reactor)
    guard let connection = turn.connection else { preconditionFailure("a turn without a connection") }
    return connection
  }

  func giveBack(_ connection: PostgresConnection, on reactor: isolated Reactor) {
    guard let turn = waiters.popFirst() else { return free.append(connection) }
    turn.connection = connection
    turn.signal.signal(on: reactor)
  }
}

extension PostgresConfiguration {
  /// Sessions of the measuring side: statements of minutes, such as those that make its tables, are let be.
  static func bench(_ conninfo: String, application: String) -> PostgresConfiguration {
    var configuration = PostgresConfiguration(conninfo: conninfo)
    configuration.applicationName = "tacet-bench \(application)"
    configuration.statementLimit = nil
    return configuration
  }
}

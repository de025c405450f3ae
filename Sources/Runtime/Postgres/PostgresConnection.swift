internal import CLibpq
internal import DequeModule
package import Logging
package import Reactors

/// One session with a PostgreSQL server, in pipeline mode, on one reactor.
///
/// Statements are sent at once, without waiting for earlier answers, and answered in order. Each is followed by a sync point, and
/// so is a separate transaction: an error affects only its statement. Inside ``withTransaction(on:_:)`` the server's usual rules
/// apply.
///
/// With ``PostgresPoolMode/transaction`` it is a connection to a pooler, and each transaction may run in another session.
///
/// The reactor keeps an open connection alive, so call ``close(on:)``. Cancelling a task does not end its statement.
package final class PostgresConnection {
  package let configuration: PostgresConfiguration
  let logger: Logger

  // The one owner of this `PGconn`; nil once finished.
  private(set) var handle: OpaquePointer?
  var registration: Registration?
  var isWatchingWrites = false
  var hasAskedForTickEnd = false

  /// Statements sent and not yet answered, oldest first.
  var pending = Deque<PendingStatement>()
  var script: PendingScript?
  var encoder = PostgresParameterEncoder()

  /// As they were known when the session was opened, or as it has found them.
  var chosenTypes: [PostgresType]

  /// Sent before each statement in transaction mode.
  let transactionSettings: String

  /// The SQL of the statements known to the server, by name. The SQL is there to catch two statements with one name.
  var prepared: [String: String] = [:]

  var deadlineTimer: TimerToken?
  var deadlineArmed: UInt64 = .max
  /// When the oldest pending statement became the oldest, that is, when the server could begin with it.
  var oldestSince: UInt64 = 0

  /// The host of the session, and the other hosts of the connection string.
  var target: ConnectionTarget?
  var otherTargets: [ConnectionTarget] = []
  /// When the server was last checked.
  var doubtedAt: UInt64 = 0

  /// What keeps this session open, if anything does. Told of its end and of its notifies.
  weak var keeper: ReconnectingConnection?
  private var drainWaiters: [Signal] = []

  /// Statements answered since the connect. Each is a round trip, unless it shared one with others.
  package internal(set) var statementsAnswered = 0

  package internal(set) var lossReason: PostgresError?

  private let noticeLog: NoticeLog

  /// Takes a connected handle of ``connect(_:logger:on:)`` over.
  init(owning handle: OpaquePointer, configuration: PostgresConfiguration, logger: Logger) {
    self.handle = handle
    self.configuration = configuration
    chosenTypes = configuration.chosenTypes
    transactionSettings = configuration.transactionSettings
    self.logger = logger
    noticeLog = NoticeLog(logger, handler: configuration.noticeHandler)
    noticeLog.attach(to: handle)
  }

  deinit {
    PQfinish(handle)
  }

  package var isOpen: Bool { handle != nil }

  package var pendingCount: Int { pending.count }

  /// The session's host, as in the connection string. A folder for a Unix socket; empty once closed.
  package var host: String { handle.flatMap { PQhost($0) }.map { String(cString: $0) } ?? "" }

  /// The process number that the server sent at the connect; 0 once closed. A pooler makes up a number, so it differs from
  /// `pg_backend_pid()`.
  package var backendID: Int32 { handle.map { PQbackendPID($0) } ?? 0 }

  /// Ends the session. Pending statements fail with ``PostgresError/Code/connectionLost``, unless ``drain(within:on:)`` comes
  /// first. Closing twice does nothing.
  package func close(on reactor: isolated Reactor) {
    lose(PostgresError(.connectionLost, "closed by this process"), on: reactor)
  }

  /// Waits until nothing is pending.
  /// - Returns: false when the limit passed first.
  package func drain(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    if pending.isEmpty { return true }
    let signal = Signal()
    drainWaiters.append(signal)
    defer { drainWaiters.removeAll { $0 === signal } }
    return await signal.wait(for: limit, on: reactor)
  }

  func tellDrained(on reactor: isolated Reactor) {
    for waiter in drainWaiters { waiter.signal(on: reactor) }
  }

  func finish() {
    PQfinish(handle)
    handle = nil
  }
}

struct PendingStatement {
  let name: String
  /// Nil once the caller has given up waiting. The answer is then dropped.
  var continuation: UnsafeContinuation<Result<PostgresRows, PostgresError>, Never>?
  /// When the caller gives up, on the reactor's clock.
  let deadline: UInt64
  /// Whether its Parse is unanswered.
  var isPreparing: Bool
  var result: Result<PostgresRows, PostgresError>?

  mutating func fail(_ error: PostgresError) {
    // The first failure of a sync unit is the cause of the others.
    if case .failure = result { return }
    result = .failure(error.of(statement: name))
  }
}

extension PostgresConnection {
  /// Opens a session without blocking the reactor.
  ///
  /// Names are resolved on the global executor. Each host gets its turn, and a silent host does not hold up the next; see
  /// ``ConnectRace``. Follows `target_session_attrs`.
  /// - Throws: ``PostgresError/Code/notConnected`` with each host's reason and, if a host gave one, an SQLSTATE;
  ///   ``PostgresError/Code/timedOut``; or ``PostgresError/Code/invalidConfiguration``.
  package static func connect(
    _ configuration: PostgresConfiguration, logger: Logger, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresConnection {
    var parameters = try ConnectionParameters(configuration)
    let deadline = Reactor.now + configuration.connectLimit.clampedNanoseconds
    try await parameters.resolve()
    let (handle, target) = try await race(parameters, configuration.hosts, until: deadline, on: reactor)
    let connection = try begin(handle, configuration, logger, on: reactor)
    connection.target = target
    connection.otherTargets = parameters.targets.filter { $0 != target }
    return connection
  }

  private static func race(
    _ parameters: ConnectionParameters, _ memory: HostMemory, until deadline: UInt64, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (handle: OpaquePointer, target: ConnectionTarget) {
    if parameters.prefersStandby {
      // As libpq does: a round for standbys, then one for any server. A server that is no standby is not remembered as bad.
      let half = deadline - (deadline - min(deadline, Reactor.now)) / 2
      let standbys = ConnectRace(parameters.asking(for: "standby"), memory: HostMemory())
      if let found = try? await standbys.run(until: half, on: reactor) { return found }
    }
    return try await ConnectRace(parameters, memory: memory).run(until: deadline, on: reactor)
  }

  private static func begin(
    _ handle: OpaquePointer, _ configuration: PostgresConfiguration, _ logger: Logger, on reactor: isolated Reactor
  ) throws(PostgresError) -> PostgresConnection {
    let connection = PostgresConnection(owning: handle, configuration: configuration, logger: logger)
    guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
      throw PostgresError(.notConnected, of: handle)
    }
    do throws(SystemError) {
      connection.registration = try reactor.register(PQsocket(handle), for: .read, handler: connection)
    } catch {
      throw PostgresError(.notConnected, error.description)
    }
    return connection
  }
}

internal import CLibpq
internal import DequeModule
public import Logging
public import Reactors

/// One session with a PostgreSQL server, in pipeline mode, on one reactor.
///
/// Statements go out at once and are answered in order; nobody waits for the answer to somebody else's. Each is followed
/// by a sync point and so is a transaction of its own: an error hits only itself. Inside ``withTransaction(on:_:)`` the
/// server's usual rule holds.
///
/// With ``PostgresPoolMode/transaction`` it is a connection to a pooler, and each transaction may be another session.
///
/// The reactor keeps an open connection alive: ``close(on:)`` it. A task's cancellation does not end a statement.
public final class PostgresConnection {
  let configuration: PostgresConfiguration
  let logger: Logger

  // The one owner of this `PGconn`: nil once finished. `finish()` is the only place that frees it.
  private(set) var handle: OpaquePointer?
  var registration: Registration?
  var isWatchingWrites = false
  var hasAskedForTickEnd = false

  /// Statements sent and not yet answered, oldest first.
  var pending = Deque<PendingStatement>()
  var script: PendingScript?
  var encoder = PostgresParameterEncoder()

  /// What goes before each statement where sessions are lent by transactions.
  let transactionSettings: String

  /// The statements known to the server, by name; their SQL, to catch two statements with one name.
  var prepared: [String: String] = [:]

  var deadlineTimer: TimerToken?
  var deadlineArmed: UInt64 = .max
  /// When the oldest pending statement became the oldest, i.e. when the server can have begun with it.
  var oldestSince: UInt64 = 0

  /// Where it leads, and where else it might.
  var target: ConnectionTarget?
  var otherTargets: [ConnectionTarget] = []
  /// When somebody last looked whether the server is alive.
  var doubtedAt: UInt64 = 0

  weak var observer: (any PostgresConnectionObserver)?
  var drainWaiters: [Signal] = []

  /// Statements answered since the connect, each of them one round trip unless it shared the way with others.
  public internal(set) var statementsAnswered = 0

  /// Why the connection ended; nil while it is open.
  public internal(set) var lossReason: PostgresError?

  private let noticeLog: NoticeLog

  /// Takes over a connected handle; ``connect(_:logger:on:)`` is the way to make one.
  init(owning handle: OpaquePointer, configuration: PostgresConfiguration, logger: Logger) {
    self.handle = handle
    self.configuration = configuration
    transactionSettings = configuration.transactionSettings
    self.logger = logger
    noticeLog = NoticeLog(logger, handler: configuration.noticeHandler)
    noticeLog.attach(to: handle)
  }

  deinit {
    PQfinish(handle)
  }

  /// Whether statements can be sent.
  public var isOpen: Bool { handle != nil }

  /// Statements sent and not yet answered.
  public var pendingCount: Int { pending.count }

  /// The host that was reached, as the connection string names it; a folder for a Unix socket, empty once closed.
  public var host: String { handle.flatMap { PQhost($0) }.map { String(cString: $0) } ?? "" }

  /// The process that the connection was told to belong to. A pooler makes up a number of its own, so another one than
  /// `pg_backend_pid()` tells of a pooler. 0 once closed.
  public var backendID: Int32 { handle.map { PQbackendPID($0) } ?? 0 }

  /// Ends the session. Pending statements fail with ``PostgresError/Code/connectionLost``; wait for
  /// ``drain(within:on:)`` first where that matters. Closing twice does nothing.
  public func close(on reactor: isolated Reactor) {
    lose(PostgresError(.connectionLost, "closed by this process"), on: reactor)
  }

  /// Waits until nothing is pending.
  /// - Returns: false when the limit passed first.
  public func drain(within limit: Duration, on reactor: isolated Reactor) async -> Bool {
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

/// What the owner of a connection is told, on the reactor.
protocol PostgresConnectionObserver: AnyObject {
  /// The connection has ended and everything pending has failed.
  func connectionEnded(_ reason: PostgresError, on reactor: isolated Reactor)

  /// The server has delivered a NOTIFY.
  func notificationArrived(_ notification: PostgresNotification, on reactor: isolated Reactor)
}

/// A statement in flight.
struct PendingStatement {
  let name: String
  /// Nil once the caller has given up waiting; the answer is then dropped.
  var continuation: UnsafeContinuation<Result<PostgresRows, PostgresError>, Never>?
  /// When the caller gives up, on the reactor's clock.
  let deadline: UInt64
  /// Whether a Parse went ahead and has not been answered yet.
  var isPreparing: Bool
  var result: Result<PostgresRows, PostgresError>?

  mutating func fail(_ error: PostgresError) {
    // The first report is the cause; what follows it in the same sync unit is a consequence.
    if case .failure = result { return }
    result = .failure(error.of(statement: name))
  }
}

extension PostgresConnection {
  /// Opens a session without blocking the reactor.
  ///
  /// Names are resolved on the global executor. Each host gets its turn, whatever those before it answer, and none waits
  /// for one that is silent; see ``ConnectRace``. `target_session_attrs` is honoured.
  /// - Throws: ``PostgresError/Code/notConnected`` with each host's reason, and an SQLSTATE where one gave one,
  ///   ``PostgresError/Code/timedOut``, or ``PostgresError/Code/invalidConfiguration``.
  public static func connect(
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
      // As libpq does: a round for standbys, and one for whatever there is. Not to be one is no fault of a host.
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

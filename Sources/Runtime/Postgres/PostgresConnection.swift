internal import CLibpq
internal import DequeModule
package import Logging
package import Reactors

/// One session with a PostgreSQL server, in pipeline mode, on one reactor.
///
/// Statements are sent at once, without waiting for earlier answers, and answered in order. Each is followed by a sync point, and
/// so is a separate transaction: an error affects only its statement.
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

  deinit { PQfinish(handle) }

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

extension PostgresConnection {
  /// Runs a statement. Prepares it first, if this session has not yet.
  /// It is sent in this tick, and answered after the statements before it.
  /// - Parameter limit: how long to wait for the answer; nil for the configuration's `answerLimit`.
  /// - Throws: ``PostgresError``. After ``PostgresError/Code/connectionLost`` and ``PostgresError/Code/timedOut`` the statement may
  ///   have taken effect. After other errors it has not, and the connection can still be used.
  @discardableResult
  package func query(
    _ statement: PostgresStatement, _ parameters: [any PostgresEncodable] = [], within limit: Duration? = nil,
    on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    try checkRoom(for: statement)
    let statement = statement.resolved(by: chosenTypes)
    try encoder.encode(parameters, for: statement)
    if configuration.poolMode == .transaction {
      guard sendWhole(statement) else { throw broken(on: reactor) }
      return try await answer(to: statement, isPreparing: false, within: limit, on: reactor)
    }
    let isPreparing = try sendParseIfNeeded(statement, on: reactor)
    let isSent = encoder.withArguments { values, lengths, formats, count in
      PQsendQueryPrepared(handle, statement.name, count, values, lengths, formats, 1) == 1
    }
    guard isSent else { throw broken(on: reactor) }
    return try await answer(to: statement, isPreparing: isPreparing, within: limit, on: reactor)
  }

  /// Prepares a statement without running it, e.g. to test it against a schema. Not for transaction mode.
  package func prepare(_ statement: PostgresStatement, on reactor: isolated Reactor) async throws(PostgresError) {
    try checkRoom(for: statement)
    let statement = statement.resolved(by: chosenTypes)
    guard try sendParseIfNeeded(statement, on: reactor) else { return }
    _ = try await answer(to: statement, isPreparing: true, within: nil, on: reactor)
  }

  /// Runs a ``PostgresConfiguration/sessionCheck``, and uses the types that it returns.
  package func check(
    _ statement: PostgresStatement, on reactor: isolated Reactor
  ) async throws(PostgresError) -> Bool {
    let row = try await query(statement, on: reactor).one()
    if row.result.columnCount > 1 {
      let numbers: [Int64] = try row.decode(1)
      chosenTypes = numbers.map { PostgresType(oid: UInt32(truncatingIfNeeded: $0)) }
      configuration.chosenTypes = chosenTypes
    }
    return try row.decode(0)
  }

  private func checkRoom(for statement: PostgresStatement) throws(PostgresError) {
    guard isOpen else { throw (lossReason ?? PostgresError(.notConnected)).with(code: .notConnected) }
    guard script == nil, pending.count < configuration.pendingStatementsMax else {
      throw PostgresError(.tooManyPending, "\(pending.count) pending").of(statement: statement.name)
    }
  }

  /// Remembers the statement at once, because later statements of this connection follow its Parse.
  private func sendParseIfNeeded(
    _ statement: PostgresStatement, on reactor: isolated Reactor
  ) throws(PostgresError) -> Bool {
    if let sql = prepared[statement.name] {
      precondition(sql == statement.sql, "two statements are named \(statement.name)")
      return false
    }
    let types = statement.parameterTypes.map { Oid($0.oid) }
    guard PQsendPrepare(handle, statement.name, statement.sql, Int32(types.count), types) == 1 else {
      throw broken(on: reactor)
    }
    prepared[statement.name] = statement.sql
    return true
  }

  private func answer(
    to statement: PostgresStatement, isPreparing: Bool, within limit: Duration?, on reactor: isolated Reactor
  ) async throws(PostgresError) -> PostgresRows {
    guard clibpq_append_sync_point(handle) == 1 else { throw broken(on: reactor) }
    flushAtTickEnd(on: reactor)
    let now = Reactor.now
    let deadline = answerDeadline(limit, now: now)
    let result = await withUnsafeContinuation { continuation in
      if pending.isEmpty { oldestSince = now }
      pending.append(
        PendingStatement(
          name: statement.name, continuation: continuation, deadline: deadline, isPreparing: isPreparing))
      armDeadline(now: now, on: reactor)
    }
    return try result.get()
  }

  /// libpq refuses to send on a broken connection or without memory. Neither recovers on this connection.
  private func broken(on reactor: isolated Reactor) -> PostgresError {
    let error = PostgresError(.connectionLost, of: handle)
    lose(error, on: reactor)
    return error
  }

  /// Sends the settings and the encoded statement as one sync unit, and so as one transaction. Both are unnamed, because the next
  /// transaction may run in another session.
  private func sendWhole(_ statement: PostgresStatement) -> Bool {
    guard PQsendQueryParams(handle, transactionSettings, 0, nil, nil, nil, nil, 1) == 1 else { return false }
    let types = statement.parameterTypes.map { Oid($0.oid) }
    return encoder.withArguments { values, lengths, formats, count in
      PQsendQueryParams(handle, statement.sql, count, types, values, lengths, formats, 1) == 1
    }
  }
}

struct PendingScript {
  let continuation: UnsafeContinuation<Result<Void, PostgresError>, Never>
  var failure: PostgresError?
}

extension PostgresConnection {
  /// Runs a script of any number of statements, like `psql -c`: in one implicit transaction, unless the script controls it.
  /// Waits until nothing is pending, and leaves pipeline mode meanwhile. Other statements are refused with
  /// ``PostgresError/Code/tooManyPending``, so use a separate connection. Results are dropped. There is no client-side limit, and
  /// the server's `statement_timeout` applies to the whole script.
  package func simple(_ sql: String, on reactor: isolated Reactor) async throws(PostgresError) {
    guard !sql.utf8.contains(0) else { throw PostgresError(.invalidParameter, "a script has no NUL") }
    guard script == nil, await drain(within: configuration.answerLimit, on: reactor) else {
      throw PostgresError(.tooManyPending, "the connection is busy")
    }
    guard isOpen else { throw (lossReason ?? PostgresError(.notConnected)).with(code: .notConnected) }
    guard PQexitPipelineMode(handle) == 1, PQsendQuery(handle, sql) == 1 else {
      let error = PostgresError(.connectionLost, of: handle)
      lose(error, on: reactor)
      throw error
    }
    flushAtTickEnd(on: reactor)
    try await withUnsafeContinuation { script = PendingScript(continuation: $0) }.get()
  }

  func takeScriptResult(_ result: OpaquePointer, on reactor: isolated Reactor) {
    defer { PQclear(result) }
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: break
    case PGRES_FATAL_ERROR where !PostgresError.endsSession(report: result):
      if script?.failure == nil { script?.failure = PostgresError(report: result) }
    case PGRES_FATAL_ERROR: lose(PostgresError(.connectionLost, report: result), on: reactor)
    // COPY would wait for rows, and none are sent.
    default: lose(PostgresError(.connectionLost, "a script cannot use COPY"), on: reactor)
    }
  }

  func finishScript(on reactor: isolated Reactor) {
    guard let finished = script else { return }
    script = nil
    if PQenterPipelineMode(handle) != 1 { lose(PostgresError(.connectionLost, of: handle), on: reactor) }
    finished.continuation.resume(returning: finished.failure.map { .failure($0) } ?? .success(()))
  }
}

extension PostgresConnection {
  /// Whether the session is in no transaction, and no pending statement can have opened one.
  var isOutsideTransaction: Bool { pending.isEmpty && PQtransactionStatus(handle) == PQTRANS_IDLE }
}

// One timer per connection, armed for the earliest deadline. Answers do not touch it, so a busy connection pays for a timer once
// per limit and not once per statement.
extension PostgresConnection: TimerHandler {
  /// The armed deadline has passed. The answers may have come in time.
  package func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    guard timer == deadlineTimer else { return }
    deadlineTimer = nil
    deadlineArmed = .max
    let now = Reactor.now
    giveUpWaiting(now: now)
    if let limit = silenceDeadline, now >= limit { return lose(Self.silent, on: reactor) }
    doubt(now: now, on: reactor)
    armDeadline(now: now, on: reactor)
  }

  /// When a caller that begins to wait now gives up.
  func answerDeadline(_ limit: Duration?, now: UInt64) -> UInt64 {
    if let limit { return now + limit.clampedNanoseconds }
    return configuration.statementLimit == nil ? .max : now + configuration.answerLimit.clampedNanoseconds
  }

  func armDeadline(now: UInt64, on reactor: isolated Reactor) {
    guard let newest = pending.last else { return }
    // An armed timer is early enough for all statements except perhaps the newest. When it fires it checks all.
    let deadline = deadlineTimer == nil ? earliestDeadline : newest.deadline
    guard deadline < deadlineArmed else { return }
    disarmDeadline(on: reactor)
    deadlineArmed = deadline
    deadlineTimer = reactor.schedule(after: .until(deadline, now: now), self)
  }

  func disarmDeadline(on reactor: isolated Reactor) {
    reactor.cancel(&deadlineTimer)
    deadlineArmed = .max
  }

  private var earliestDeadline: UInt64 {
    pending.reduce(min(silenceDeadline ?? .max, doubtDeadline ?? .max)) {
      $1.continuation == nil ? $0 : min($0, $1.deadline)
    }
  }

  /// When the server is silent: it should have cancelled the oldest statement before.
  private var silenceDeadline: UInt64? {
    guard !pending.isEmpty, let limit = configuration.statementLimit else { return nil }
    return oldestSince + limit.clampedNanoseconds + configuration.silenceLimit.clampedNanoseconds
  }

  /// Statements keep their place in the pipeline when their callers give up.
  private func giveUpWaiting(now: UInt64) {
    for index in pending.indices where pending[index].deadline <= now {
      let error = PostgresError(.timedOut).of(statement: pending[index].name)
      pending[index].continuation?.resume(returning: .failure(error))
      pending[index].continuation = nil
    }
  }
}

// A statement without an answer may be slow, or its server may have vanished. A second session tells them apart long before the
// statement's limit, and all sessions of the process share its finding.
extension PostgresConnection {
  /// How long the server has to accept a second session: long enough to be found silent.
  private static let askLimit = ConnectRace.silence + ConnectRace.headStart

  /// How late an answer is when the server is checked; nil if statements have no limit. Short if there are other hosts, of which
  /// one may have taken over.
  private var patience: UInt64? {
    configuration.statementLimit.map {
      (otherTargets.isEmpty ? max($0 / 5, .seconds(1)) : ConnectRace.headStart).clampedNanoseconds
    }
  }

  var doubtDeadline: UInt64? {
    guard !pending.isEmpty, let patience else { return nil }
    return max(oldestSince + patience, doubtedAt + patience / 4)
  }

  private func doubt(now: UInt64, on reactor: isolated Reactor) {
    guard let doubtDeadline, now >= doubtDeadline, let target, let patience, isOpen else { return }
    doubtedAt = now
    guard !leaveIfSilent(target, on: reactor) else { return }
    let interval = max(.nanoseconds(Int64(2 * patience)), Self.askLimit)
    guard configuration.hosts.mayAsk(target, each: interval, now: now) else { return }
    reactor.start {
      await self.ask(target, since: now, on: reactor)
      _ = self.leaveIfSilent(target, on: reactor)
    }
  }

  /// Opens a session and ends it. Any answer counts, and the finding is in the memory of hosts. If another host accepts the
  /// session and this one does not, all sessions of the process leave this host.
  private func ask(_ target: ConnectionTarget, since: UInt64, on reactor: isolated Reactor) async {
    do throws(PostgresError) {
      var parameters = try ConnectionParameters(configuration)
      if otherTargets.isEmpty { parameters = parameters.asking(for: "any") }
      parameters.targets = [target] + otherTargets
      let race = ConnectRace(parameters, memory: configuration.hosts, first: target)
      PQfinish(try await race.run(until: Reactor.now + Self.askLimit.clampedNanoseconds, on: reactor).handle)
      guard let finding = configuration.hosts.finding(on: target, since: since), finding >= .slow else { return }
      lose(Self.silent, on: reactor)
      configuration.hosts.leave(target)
    } catch {
      logger.debug("asked a server for a sign of life", metadata: ["error": "\(error.debugDescription)"])
    }
  }

  /// Ends the session if its server has been silent since the oldest statement.
  private func leaveIfSilent(_ target: ConnectionTarget, on reactor: isolated Reactor) -> Bool {
    guard !pending.isEmpty, configuration.hosts.finding(on: target, since: oldestSince) == .silent else { return false }
    lose(Self.silent, on: reactor)
    configuration.hosts.leaveLater(target)
    return true
  }

  static let silent = PostgresError(.connectionLost, "the server is silent")
}

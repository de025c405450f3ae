internal import CLibpq
internal import Glibc
internal import Reactors
internal import Synchronization

/// Connects to several hosts; the first ready session wins. After RFC 8305, "Happy Eyeballs".
/// Hosts are tried in order. The next host is tried when all before it have failed or are late, so each gets its turn. A failed
/// host is tried again while another attempt is pending, because a standby may be promoted meanwhile.
final class ConnectRace {
  /// The time before the next host is tried (RFC 8305, section 5, recommends 250 ms).
  static let headStart = Duration.milliseconds(250)
  /// The wait before a failed host is tried again in one race.
  static let pause = Duration.milliseconds(500)
  /// A host that does not answer a connect for so long is silent.
  static let silence = Duration.seconds(1)

  private struct Runner {
    let target: ConnectionTarget
    var attempt: ConnectAttempt?
    var failure: PostgresError?
    var failedAt: UInt64 = 0
  }

  private let parameters: ConnectionParameters
  private let memory: HostMemory
  private var runners: [Runner]
  private var lastStart: UInt64 = 0
  private let changed = Signal()

  /// - Parameter first: tried first, regardless of earlier findings.
  init(_ parameters: ConnectionParameters, memory: HostMemory, first: ConnectionTarget? = nil) {
    self.parameters = parameters
    self.memory = memory
    // Without a target, libpq uses its defaults and the environment.
    let targets = parameters.targets.isEmpty ? [ConnectionTarget(host: "", address: "", port: "")] : parameters.targets
    let order = memory.order(targets, now: Reactor.now)
    runners = (order.filter { $0 == first } + order.filter { $0 != first }).map { Runner(target: $0) }
  }

  /// Runs until a session is ready. The caller frees it.
  /// - Throws: the failures of all hosts, when all have failed or the deadline has passed.
  func run(
    until deadline: UInt64, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (handle: OpaquePointer, target: ConnectionTarget) {
    defer { for runner in runners { runner.attempt?.cancel(on: reactor) } }
    while true {
      let now = Reactor.now
      if let winner = settle(now: now) { return winner }
      startNext(now: now, on: reactor)
      guard now < deadline, isAnyPending else { throw failure(now: now) }
      _ = await changed.wait(for: .until(min(deadline, nextStart), now: now), on: reactor)
    }
  }

  private var isAnyPending: Bool { runners.contains { $0.attempt != nil } }

  /// Records the attempts that have ended.
  /// - Returns: the winner, if there is one.
  private func settle(now: UInt64) -> (handle: OpaquePointer, target: ConnectionTarget)? {
    for index in runners.indices {
      guard let attempt = runners[index].attempt, !attempt.isPending else { continue }
      runners[index].attempt = nil
      if case .failed(let error) = attempt.state {
        (runners[index].failure, runners[index].failedAt) = (error, now)
        memory.record(.refuses, of: runners[index].target, now: now)
      } else if let handle = attempt.takeHandle() {
        memory.record(.open, of: runners[index].target, now: now)
        recordSilence(now: now)
        return (handle, runners[index].target)
      }
    }
    return nil
  }

  /// Records the attempts that are pending after their head start.
  private func recordSilence(now: UInt64) {
    for runner in runners {
      guard let attempt = runner.attempt, now &- attempt.startedAt >= Self.headStart.clampedNanoseconds else {
        continue
      }
      let age = now &- attempt.startedAt
      memory.record(age < Self.silence.clampedNanoseconds ? .slow : .silent, of: runner.target, now: now)
    }
  }

  /// The host to try next, and when; nil when all are pending.
  private var next: (index: Int, at: UInt64)? {
    if let index = runners.firstIndex(where: { $0.attempt == nil && $0.failure == nil }) {
      return (index, isAnyPending ? lastStart + Self.headStart.clampedNanoseconds : 0)
    }
    guard isAnyPending else { return nil }
    let failed = runners.indices.filter { runners[$0].attempt == nil }
    let first = failed.min { runners[$0].failedAt < runners[$1].failedAt }
    return first.map { ($0, runners[$0].failedAt + Self.pause.clampedNanoseconds) }
  }

  private var nextStart: UInt64 { next?.at ?? .max }

  private func startNext(now: UInt64, on reactor: isolated Reactor) {
    while let (index, at) = next, at <= now {
      let target = runners[index].target
      runners[index].attempt = ConnectAttempt(parameters.startConnect(to: target), changed: changed, on: reactor)
      lastStart = now
      // If it has failed at once, the next host is due.
      if runners[index].attempt?.isPending == false { _ = settle(now: now) }
    }
  }

  /// Each host with its reason. libpq's texts begin with the host.
  private func failure(now: UInt64) -> PostgresError {
    recordSilence(now: now)
    var reasons: [String] = []
    for runner in runners {
      let reason = runner.failure?.message ?? "\(runner.target): no answer in time"
      if !reasons.contains(reason) { reasons.append(reason) }
    }
    let errors = runners.compactMap(\.failure)
    let code = errors.isEmpty ? PostgresError.Code.timedOut : .notConnected
    let sqlState = errors.lazy.compactMap(\.sqlState).first
    return PostgresError(code, context: .init(sqlState: sqlState, message: reasons.joined(separator: "; ")))
  }
}

extension ConnectionTarget: CustomStringConvertible {
  /// `host:port`, with the address if the host is a name.
  var description: String {
    let place = host.isEmpty ? address : address.isEmpty || address == host ? host : "\(host) (\(address))"
    return place.isEmpty ? "the default host" : port.isEmpty ? place : "\(place):\(port)"
  }
}

/// One connect of libpq to one host, driven by the readiness of its socket.
private final class ConnectAttempt: ReadinessHandler {
  enum State {
    case pending
    case connected
    case failed(PostgresError)
  }

  private(set) var state = State.pending
  let startedAt = Reactor.now
  private var handle: OpaquePointer?
  private var registration: Registration?
  private let changed: Signal

  /// Takes the handle of `PQconnectStartParams` over.
  /// - Parameter changed: given when the attempt has ended.
  init(_ handle: OpaquePointer?, changed: Signal, on reactor: isolated Reactor) {
    self.handle = handle
    self.changed = changed
    if handle == nil {
      end(.failed(PostgresError(.notConnected, "out of memory")), on: reactor)
    } else if PQstatus(handle) == CONNECTION_BAD {
      fail(on: reactor)
    } else {
      watch(for: .write, on: reactor)
    }
  }

  deinit { PQfinish(handle) }

  var isPending: Bool {
    if case .pending = state { true } else { false }
  }

  /// Follows `PQconnectPoll`. It may change the socket at every call, so each wait registers again.
  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    reactor.deregister(&registration)
    switch PQconnectPoll(handle) {
    case PGRES_POLLING_OK: end(.connected, on: reactor)
    case PGRES_POLLING_READING: watch(for: .read, on: reactor)
    case PGRES_POLLING_WRITING: watch(for: .write, on: reactor)
    default: fail(on: reactor)
    }
  }

  /// Moves the connected session out. The caller frees it.
  func takeHandle() -> OpaquePointer? {
    defer { handle = nil }
    return handle
  }

  /// Ends the attempt, or a session that was not taken.
  func cancel(on reactor: isolated Reactor) {
    reactor.deregister(&registration)
    PQfinish(handle)
    handle = nil
  }

  private func watch(for interest: Interest, on reactor: isolated Reactor) {
    let socket = PQsocket(handle)
    guard socket >= 0 else { return fail(on: reactor) }
    do throws(SystemError) {
      registration = try reactor.register(socket, for: interest, handler: self)
    } catch {
      end(.failed(PostgresError(.notConnected, error.description)), on: reactor)
    }
  }

  private func fail(on reactor: isolated Reactor) { end(.failed(Self.failure(of: handle)), on: reactor) }

  private func end(_ state: State, on reactor: isolated Reactor) {
    self.state = state
    changed.signal(on: reactor)
  }

  /// libpq keeps the text of a refused connect, but not its SQLSTATE. The English texts tell those that an operator can act on.
  /// A server with another language gives no SQLSTATE here.
  private static func failure(of handle: OpaquePointer?) -> PostgresError {
    let error = PostgresError(.notConnected, of: handle)
    let known: [(String, SQLState)] = [
      ("password authentication failed", .invalidPassword), ("no password supplied", .invalidPassword),
      ("\" does not exist", .invalidCatalogName), ("the database system is", .cannotConnectNow),
    ]
    let sqlState = known.first { contains(error.message, $0.0) }?.1
    return PostgresError(.notConnected, context: .init(sqlState: sqlState, message: error.message))
  }

  private static func contains(_ text: String, _ part: String) -> Bool {
    text.withCString { text in part.withCString { strstr(text, $0) != nil } }
  }
}

/// Recent findings about hosts, shared by the sessions of a process.
/// All copies of a ``PostgresConfiguration`` share it, so that one session's loss spares the others the same wait. Holds an entry
/// for each host of a connection string, and one for each session that is kept open.
final class HostMemory: Sendable {
  /// The result of connecting to a host, worse last.
  enum Finding: Int, Comparable {
    case open
    /// The host answers, but refuses the session.
    case refuses
    /// Another host was faster.
    case slow
    case silent

    static func < (one: Finding, other: Finding) -> Bool { one.rawValue < other.rawValue }
  }

  /// How long a finding is valid. Trying a silent host first again costs a quarter of a second.
  static let life = Duration.seconds(30)

  private struct Entry {
    var finding: Finding
    var at: UInt64
    var askedAt: UInt64?
  }

  /// How long a refused write says that a host takes none. A service writes each ten seconds at least.
  private static let refusedWriteLife = Duration.seconds(15)

  private let entries = Mutex<[ConnectionTarget: Entry]>([:])
  private let refusedWrites = Mutex<[ConnectionTarget: UInt64]>([:])
  private let sessions = Mutex(Sessions())

  private struct Sessions {
    var all: [ObjectIdentifier: ReactorBound<ReconnectingConnection>] = [:]
    /// Silent hosts that a session left without another host to go to.
    var left: Set<ConnectionTarget> = []
  }

  func record(_ finding: Finding, of target: ConnectionTarget, now: UInt64) {
    entries.withLock { $0[target] = Entry(finding: finding, at: now, askedAt: $0[target]?.askedAt) }
    if finding == .open { leaveSilentHosts(for: target) }
  }

  /// A server with open sessions has refused a write.
  func recordRefusedWrite(to target: ConnectionTarget, now: UInt64) {
    refusedWrites.withLock { $0[target] = now }
    record(.refuses, of: target, now: now)
  }

  func refusesWrites(_ target: ConnectionTarget, now: UInt64) -> Bool {
    refusedWrites.withLock { $0[target] }.map { now &- $0 < Self.refusedWriteLife.clampedNanoseconds } ?? false
  }

  func finding(on target: ConnectionTarget, since: UInt64) -> Finding? {
    entries.withLock { entries in entries[target].flatMap { $0.at >= since ? $0.finding : nil } }
  }

  /// The hosts in the order to try them: as listed, but worse findings last.
  func order(_ targets: [ConnectionTarget], now: UInt64) -> [ConnectionTarget] {
    let oldest = now - min(now, Self.life.clampedNanoseconds)
    let findings = targets.map { finding(on: $0, since: oldest) ?? .open }
    let order = targets.indices.sorted { (findings[$0], $0) < (findings[$1], $1) }
    return order.map { targets[$0] }
  }

  /// Whether the caller should check that a host is alive. One session of the process may, once per interval.
  func mayAsk(_ target: ConnectionTarget, each interval: Duration, now: UInt64) -> Bool {
    entries.withLock { entries in
      var entry = entries[target] ?? Entry(finding: .open, at: 0, askedAt: nil)
      if let askedAt = entry.askedAt, now &- askedAt < interval.clampedNanoseconds { return false }
      entry.askedAt = now
      entries[target] = entry
      return true
    }
  }
}

// When one session finds its host silent and another host open, all sessions leave the silent host. An idle session would
// otherwise find out at its next statement, and a listening session seconds later.
extension HostMemory {
  /// Registers a session that is kept open.
  func add(_ session: ReconnectingConnection, on reactor: isolated Reactor) {
    let bound = ReactorBound(session, on: reactor)
    sessions.withLock { $0.all[ObjectIdentifier(session)] = bound }
  }

  func remove(_ session: ReconnectingConnection) {
    sessions.withLock { _ = $0.all.removeValue(forKey: ObjectIdentifier(session)) }
  }

  /// Ends all sessions with a host, because another host accepts sessions.
  func leave(_ target: ConnectionTarget) {
    for session in sessions.withLock({ $0.all }).values { session.submit { $0.leave(target, on: $1) } }
  }

  /// Ends all sessions with a host as soon as another host accepts one.
  func leaveLater(_ target: ConnectionTarget) { sessions.withLock { _ = $0.left.insert(target) } }

  private func leaveSilentHosts(for target: ConnectionTarget) {
    let left = sessions.withLock { sessions in
      defer { sessions.left = [] }
      return sessions.left
    }
    for other in left where other != target { leave(other) }
  }
}

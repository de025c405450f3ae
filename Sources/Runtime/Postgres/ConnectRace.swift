internal import CLibpq
internal import Glibc
internal import Reactors

/// Connects to several hosts; the first ready session wins. After RFC 8305, "Happy Eyeballs".
///
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
      _ = await changed.wait(for: .nanoseconds(Int64(min(deadline, nextStart) - min(now, nextStart))), on: reactor)
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

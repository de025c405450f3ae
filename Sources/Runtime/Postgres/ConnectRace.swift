internal import CLibpq
internal import Reactors

/// Attempts at several hosts, of which the first that is ready wins; after RFC 8305, "Happy Eyeballs".
///
/// Hosts are tried in order. The next one is tried when all before it have failed, or are pending for a while; each gets
/// its turn, whatever the others answer. A host that failed is tried again while another is pending, because a standby
/// may be promoted meanwhile.
final class ConnectRace {
  /// What a pending attempt has before the next host is tried (RFC 8305, section 5, recommends 250 ms).
  static let headStart = Duration.milliseconds(250)

  /// Before a host that has failed is tried again in one race.
  static let pause = Duration.milliseconds(500)

  /// A host that has said nothing to a connect for so long is taken for silent.
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

  /// - Parameter first: tried first, whatever is known of it.
  init(_ parameters: ConnectionParameters, memory: HostMemory, first: ConnectionTarget? = nil) {
    self.parameters = parameters
    self.memory = memory
    // Without a target libpq takes its defaults and the environment's.
    let targets = parameters.targets.isEmpty ? [ConnectionTarget(host: "", address: "", port: "")] : parameters.targets
    let order = memory.order(targets, now: Reactor.now)
    runners = (order.filter { $0 == first } + order.filter { $0 != first }).map { Runner(target: $0) }
  }

  /// Runs until a session is ready; the caller frees it.
  /// - Throws: what each host said, when all have failed or the time is over.
  func run(
    until deadline: UInt64, on reactor: isolated Reactor
  ) async throws(PostgresError) -> (handle: OpaquePointer, target: ConnectionTarget) {
    defer { for runner in runners { runner.attempt?.cancel(on: reactor) } }
    while true {
      let now = Reactor.now
      if let winner = settle(now: now) { return winner }
      startNext(now: now, on: reactor)
      guard now < deadline, isAnyPending else { throw failure(now: now, deadline: deadline) }
      _ = await changed.wait(for: .nanoseconds(Int64(min(deadline, nextStart) - min(now, nextStart))), on: reactor)
    }
  }

  private var isAnyPending: Bool { runners.contains { $0.attempt != nil } }

  /// Notes which attempts are over.
  private func settle(now: UInt64) -> (handle: OpaquePointer, target: ConnectionTarget)? {
    for index in runners.indices {
      guard let attempt = runners[index].attempt, !attempt.isPending else { continue }
      runners[index].attempt = nil
      if case .failed(let error) = attempt.state {
        (runners[index].failure, runners[index].failedAt) = (error, now)
        memory.note(.refuses, of: runners[index].target, now: now)
      } else if let handle = attempt.takeHandle() {
        memory.note(.open, of: runners[index].target, now: now)
        noteSilence(now: now)
        return (handle, runners[index].target)
      }
    }
    return nil
  }

  /// Attempts that are still pending after their head start.
  private func noteSilence(now: UInt64) {
    for runner in runners {
      guard let attempt = runner.attempt, now &- attempt.startedAt >= Self.headStart.clampedNanoseconds else {
        continue
      }
      let age = now &- attempt.startedAt
      memory.note(age < Self.silence.clampedNanoseconds ? .slow : .silent, of: runner.target, now: now)
    }
  }

  /// The host to start next, and when; nil when all are under way.
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
      // One that has failed at once makes room for the next.
      if runners[index].attempt?.isPending == false { _ = settle(now: now) }
    }
  }

  /// Every host with its reason; libpq's texts begin with the host.
  private func failure(now: UInt64, deadline: UInt64) -> PostgresError {
    noteSilence(now: now)
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
  /// As `host:port`, with the address where the host was a name.
  var description: String {
    let place = host.isEmpty ? address : address.isEmpty || address == host ? host : "\(host) (\(address))"
    return place.isEmpty ? "the default host" : port.isEmpty ? place : "\(place):\(port)"
  }
}

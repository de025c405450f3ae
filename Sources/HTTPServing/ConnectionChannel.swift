internal import Reactors

/// A connection's transport, as its one task waits for it: for readiness, for a deadline, or for the end of the service.
///
/// Readiness is level-triggered, so what nobody waits for would be told again in every tick; the interest is dropped at the
/// first such event and taken up again by the next wait. A connection that reads whenever it is ready never pays for that.
final class ConnectionChannel {
  /// Why a wait ended.
  enum Wake { case ready, deadline, drain, abort }

  var transport: ConnectionTransport
  /// Where the registry keeps it.
  var index = 0
  /// The task, while it waits.
  private var waiter: UnsafeContinuation<Void, Never>?
  private var registration: Registration?
  private var interest: Interest = .read
  private var isReady = false
  private var deadline = 0
  private var hasPassedDeadline = false
  private var mustDrain = false
  private var isAborted = false
  /// Whether the service has asked for its end; stays set.
  private(set) var isDraining = false

  init(_ transport: ConnectionTransport, on reactor: isolated Reactor) throws(SystemError) {
    self.transport = transport
    registration = try reactor.register(transport.descriptor, for: .read, handler: self)
  }

  /// Suspends the task until something of interest has happened.
  ///
  /// - Parameter deadline: in sweeps of the registry.
  func wait(for interest: Interest, until deadline: Int, on reactor: isolated Reactor) async -> Wake {
    take(interest, on: reactor)
    self.deadline = deadline
    // It may have passed in the tick in which the last wait ended otherwise.
    hasPassedDeadline = false
    while true {
      if let wake = nextWake() { return wake }
      await withUnsafeContinuation { waiter = $0 }
    }
  }

  /// Lets the waiting task look again.
  private func wake() { waiter.take()?.resume() }

  /// Readiness goes first: bytes that came in time are not late.
  private func nextWake() -> Wake? {
    if isAborted { return .abort }
    // Without a registration the socket is broken; reading or writing will tell how.
    if isReady || registration == nil {
      isReady = false
      return .ready
    }
    if mustDrain {
      mustDrain = false
      return .drain
    }
    guard hasPassedDeadline else { return nil }
    hasPassedDeadline = false
    return .deadline
  }

  private func take(_ interest: Interest, on reactor: isolated Reactor) {
    isReady = false
    guard interest != self.interest, let registration else { return }
    self.interest = interest
    // Only a kernel without memory refuses this; the connection is given up, since nothing would tell of it any more.
    do { try reactor.update(registration, to: interest) } catch { isAborted = true }
  }

  /// Called at each sweep.
  func sweep(_ now: Int, on reactor: isolated Reactor) {
    guard waiter != nil, now >= deadline else { return }
    hasPassedDeadline = true
    wake()
  }

  /// The service's end has come nearer.
  func drain(on reactor: isolated Reactor) {
    isDraining = true
    mustDrain = true
    wake()
  }

  /// Ends the present and every later wait.
  func abort(on reactor: isolated Reactor) {
    isAborted = true
    wake()
  }

  /// Stops watching the socket, which closes when the channel is released.
  func close(on reactor: isolated Reactor) {
    if let registration { reactor.deregister(registration) }
    registration = nil
  }
}

extension ConnectionChannel: ReadinessHandler {
  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    // Set already if another event of this tick has woken the task, which will look before it waits again.
    guard waiter != nil || isReady else { return ignore(readiness, on: reactor) }
    isReady = true
    wake()
  }

  /// A hang-up is told whatever the interest is, so only leaving the poller silences it.
  private func ignore(_ readiness: Readiness, on reactor: isolated Reactor) {
    guard readiness.isDisjoint(with: [.hungUp, .failed]) else { return close(on: reactor) }
    take([], on: reactor)
  }
}

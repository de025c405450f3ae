import Reactors

/// A connection's transport, and what its reactor watches it for.
///
/// Readiness is level-triggered, so what nobody waits for would be told again in every tick; the interest is dropped at the
/// first such event and taken up again by the next wait. A connection that reads whenever it is ready never pays for that.
struct ConnectionChannel {
  var transport: ConnectionTransport
  private var registration: Registration?
  private var interest: Interest = .read

  init(_ transport: ConnectionTransport) { self.transport = transport }

  /// Begins to watch the socket for what can be read.
  mutating func open(_ handler: any ReadinessHandler, on reactor: isolated Reactor) throws(SystemError) {
    registration = try reactor.register(transport.descriptor, for: .read, handler: handler)
  }

  /// - Returns: false if nothing would tell of the socket any more: it has hung up, or the kernel has no memory.
  mutating func watch(for interest: Interest, on reactor: isolated Reactor) -> Bool {
    guard let registration else { return false }
    guard interest != self.interest else { return true }
    self.interest = interest
    do {
      try reactor.update(registration, to: interest)
      return true
    } catch {
      return false
    }
  }

  /// Nobody waits. A hang-up is told whatever the interest is, so only leaving the poller silences it.
  mutating func ignore(_ readiness: Readiness, on reactor: isolated Reactor) {
    guard readiness.isDisjoint(with: [.hungUp, .failed]) else { return close(on: reactor) }
    _ = watch(for: [], on: reactor)
  }

  /// Stops watching the socket, which closes when the channel is released.
  mutating func close(on reactor: isolated Reactor) {
    if let registration { reactor.deregister(registration) }
    registration = nil
  }
}

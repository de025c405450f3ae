extension Reactor {
  /// Waits once for a descriptor that has no handler of its own, as connects and handshakes do.
  /// - Returns: what it became ready for; nil when `limit` passed first.
  /// - Throws: ``SystemError`` when the descriptor cannot be watched. The descriptor stays the caller's.
  public func waitForReadiness(
    of descriptor: Int32, _ interest: Interest, for limit: Duration?
  ) async throws(SystemError) -> Readiness? {
    let waiter = ReadinessWaiter()
    let registration = try register(descriptor, for: interest, handler: waiter)
    defer { deregister(registration) }
    guard await waiter.signal.wait(for: limit, on: self) else { return nil }
    return waiter.readiness
  }
}

private final class ReadinessWaiter: ReadinessHandler {
  let signal = Signal()
  private(set) var readiness: Readiness = []

  func readinessChanged(_ readiness: Readiness, on reactor: isolated Reactor) {
    self.readiness = readiness
    signal.signal(on: reactor)
  }
}

internal import Reactors

extension HTTPService {
  /// How long connections that are between two requests have for their next one, which is answered as their last.
  ///
  /// 100 ms: a round trip to the next continent, and more than a busy client's pause.
  private static let farewell = Duration.milliseconds(100)

  /// How long connections that are being made have for it.
  ///
  /// 20 ms: a round trip to clients that are not far. Who is farther is reset unless `net.ipv4.tcp_migrate_req` is set; but
  /// whoever begins in this time comes a second later, see `ListeningSocket.refuseHandshakes`, so it is short.
  private static let handshake = Duration.milliseconds(20)

  /// How long a connection without any request is given for its first.
  ///
  /// 1 s: it was accepted last, and its request is on its way or lost and sent again (RFC 6298 section 2).
  private static let firstRequest = Duration.seconds(1)

  /// Ends the service without failing anybody: answers what comes with `Connection: close`, then lets the kernel make no new
  /// connections, accepts those that it has made, closes connections without a request, and aborts what is left when the time
  /// is over.
  ///
  /// A handler cannot be interrupted: one that is still running then keeps its task, and its answer goes nowhere.
  ///
  /// - Returns: whether every connection ended by itself.
  public func drain(within limit: Duration) async -> Bool {
    let deadline = ContinuousClock.now + limit
    await drain(to: .lastAnswers) { _, _ in }
    await sleep(for: min(Self.farewell, limit))
    await drain(to: .lastAnswers) { $0.leave(on: $1) }
    await sleep(for: min(Self.handshake, max(.zero, deadline - .now)))
    await drain(to: .closesIdle) { $0.stop(on: $1) }
    if await !waitUntilEmpty(until: min(deadline, .now + Self.firstRequest)) {
      await drain(to: .closesQuiet) { _, _ in }
    }
    if await waitUntilEmpty(until: deadline) { return true }
    for listener in listeners { await listener.perform { $0.registry.abort(on: $1) } }
    return false
  }

  private func sleep(for time: Duration) async {
    await listeners.first?.perform { await $1.sleep(for: time) }
  }

  private func drain(
    to stage: ConnectionRegistry.DrainStage,
    _ step: @escaping @Sendable (ConnectionAcceptor, isolated Reactor) -> Void
  ) async {
    for listener in listeners {
      await listener.perform { listener, reactor in
        step(listener.acceptor, reactor)
        listener.registry.drain(to: stage, on: reactor)
      }
    }
  }

  private func waitUntilEmpty(until deadline: ContinuousClock.Instant) async -> Bool {
    for listener in listeners {
      let limit = max(.zero, deadline - .now)
      guard await listener.perform({ await $0.registry.waitUntilEmpty(for: limit, on: $1) }) else { return false }
    }
    return true
  }
}

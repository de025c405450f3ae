public import Reactors

extension SimulatedService {
  /// Waits until the log's total has reached `count`: the way for scripts and tests to await pushes without sleeping.
  /// - Returns: whether it did within the limit.
  public func waitForPushes(_ count: Int, within limit: Duration, on reactor: isolated Reactor) async -> Bool {
    let wait = PushWait(on: reactor)
    let ticket = whenTotalReaches(count) { wait.finish() }
    defer { if let ticket { cancelWait(ticket) } }
    return await wait.signal.wait(for: limit, on: reactor)
  }
}

/// Carries a signal to whatever thread records the push.
///
/// Unchecked because a signal belongs to its reactor; safe because it is touched there only.
private final class PushWait: @unchecked Sendable {
  let signal = Signal()
  private let reactor: Reactor

  init(on reactor: isolated Reactor) {
    self.reactor = reactor
  }

  func finish() {
    reactor.submit { reactor in self.signal.signal(on: reactor) }
  }
}

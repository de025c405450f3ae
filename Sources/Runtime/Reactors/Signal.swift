/// A remembered wake-up: a signal without a waiter ends the next wait at once.
///
/// Belongs to one reactor, and to one waiting task at a time. Signals coalesce, so the waiter checks what has happened.
package final class Signal {
  private var isSignalled = false
  private var waiter: UnsafeContinuation<Bool, Never>?
  private var timer: TimerToken?

  package init() {}

  /// Ends the current or the next wait.
  package func signal(on reactor: isolated Reactor) {
    guard let waiter else {
      isSignalled = true
      return
    }
    finish(waiter, true, on: reactor)
  }

  /// Waits for the signal.
  /// - Parameter limit: the longest wait; nil for no limit.
  /// - Returns: whether the signal came in time.
  package func wait(for limit: Duration? = nil, on reactor: isolated Reactor) async -> Bool {
    precondition(waiter == nil, "a signal has one waiter")
    if isSignalled {
      isSignalled = false
      return true
    }
    if let limit { timer = reactor.schedule(after: limit, self) }
    return await withUnsafeContinuation { waiter = $0 }
  }

  private func finish(_ waiter: UnsafeContinuation<Bool, Never>, _ result: Bool, on reactor: isolated Reactor) {
    self.waiter = nil
    reactor.cancel(&timer)
    waiter.resume(returning: result)
  }
}

extension Signal: TimerHandler {
  package func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    guard let waiter else { return }
    self.timer = nil
    finish(waiter, false, on: reactor)
  }
}

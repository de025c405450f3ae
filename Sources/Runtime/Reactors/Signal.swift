/// A wake-up that is remembered: what is signalled while nobody waits ends the next wait at once.
///
/// Belongs to one reactor and one waiting task at a time. Signals coalesce; the waiter looks for itself what there is.
public final class Signal {
  private var isSignalled = false
  private var waiter: UnsafeContinuation<Bool, Never>?
  private var timer: TimerToken?

  /// Makes a signal that has not been given.
  public init() {}

  /// Ends the present or the next wait.
  public func signal(on reactor: isolated Reactor) {
    guard let waiter else {
      isSignalled = true
      return
    }
    finish(waiter, true, on: reactor)
  }

  /// Waits until signalled or until the time is over.
  /// - Parameter limit: nil waits without an end.
  /// - Returns: whether the signal came.
  public func wait(for limit: Duration? = nil, on reactor: isolated Reactor) async -> Bool {
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
    if let timer { reactor.cancel(timer) }
    timer = nil
    waiter.resume(returning: result)
  }
}

extension Signal: TimerHandler {
  /// The time is over.
  public func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    guard let waiter else { return }
    self.timer = nil
    finish(waiter, false, on: reactor)
  }
}

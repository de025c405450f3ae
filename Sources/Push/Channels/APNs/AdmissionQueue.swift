internal import DequeModule
internal import Reactors

/// Pushes that wait for a free stream of their pool, first come, first served. One timer serves them all.
final class AdmissionQueue {
  /// Beyond it a push is turned away at once: behind so many others it would come too late.
  private static let waitersMax = 10_000

  private final class Waiter {
    /// Monotonic nanoseconds.
    var deadline: UInt64
    var link: APNSLink?
    var continuation: UnsafeContinuation<Void, Never>?

    init(deadline: UInt64) { self.deadline = deadline }
  }

  private var waiters = Deque<Waiter>()
  private var timer: TimerToken?
  /// When `timer` fires.
  private var nextLook = UInt64.max

  var isEmpty: Bool { waiters.isEmpty }

  var count: Int { waiters.count }

  /// Waits for ``admitFirst(to:)``.
  /// - Returns: nil when the deadline passed, the queue is full, or it has ended.
  func wait(until deadline: UInt64, on reactor: isolated Reactor) async -> APNSLink? {
    guard waiters.count < Self.waitersMax else { return nil }
    look(by: deadline, on: reactor)
    let waiter = Waiter(deadline: deadline)
    waiters.append(waiter)
    await withUnsafeContinuation { waiter.continuation = $0 }
    return waiter.link
  }

  /// Admits the push that has waited longest. It runs later in this tick.
  func admitFirst(to link: APNSLink) {
    guard let waiter = waiters.popFirst() else { return }
    waiter.link = link
    waiter.continuation?.resume()
  }

  func shorten(to deadline: UInt64, on reactor: isolated Reactor) {
    guard !waiters.isEmpty else { return }
    for waiter in waiters { waiter.deadline = min(waiter.deadline, deadline) }
    look(by: deadline, on: reactor)
  }

  /// Turns every push away.
  func end() {
    while let waiter = waiters.popFirst() { waiter.continuation?.resume() }
  }

  /// Pushes usually have the same limits, so the timer at the earliest deadline rarely moves.
  private func look(by deadline: UInt64, on reactor: isolated Reactor) {
    guard deadline < nextLook else { return }
    if let timer { reactor.cancel(timer) }
    nextLook = deadline
    let now = Reactor.now
    timer = reactor.schedule(after: .nanoseconds(deadline > now ? Int64(clamping: deadline - now) : 0), self)
  }
}

extension AdmissionQueue: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    let now = Reactor.now
    self.timer = nil
    nextLook = .max
    for waiter in waiters where waiter.deadline <= now { waiter.continuation?.resume() }
    waiters.removeAll { $0.deadline <= now }
    if let next = waiters.lazy.map(\.deadline).min() { look(by: next, on: reactor) }
  }
}

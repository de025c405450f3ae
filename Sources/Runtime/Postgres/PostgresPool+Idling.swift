internal import Reactors

// A pool with an idle limit closes the sessions that have nothing to do, and the next statement opens them again.
extension PostgresPool {
  /// Whether the sessions were closed for want of work, and no attempt to open them has failed since. False for a pool
  /// without an idle limit.
  package var isResting: Bool { idling?.hasRested == true && failure == nil && !isReady }

  /// A caller needs a session.
  func noteUse(on reactor: isolated Reactor) {
    onUse?()
    idling?.used(on: reactor)
  }

  var isUnused: Bool { usage.waiting == 0 && usage.inUse == 0 }

  /// Closes the sessions. This is no loss of the database: what was committed on them is safe.
  func rest(on reactor: isolated Reactor) {
    restedCounters = counters
    let resting = members
    members = []
    (failure, lostAt, returnedAt) = (nil, nil, nil)
    // All at once: while one is closed, the next may fail to connect, which would be the pool's failure for ever.
    for member in resting { member.retire() }
    reactor.start {
      for member in resting { await member.close(on: reactor) }
    }
  }
}

/// Ends the sessions of a pool that nobody uses: one timer, set again while they are used.
final class PoolIdling {
  /// Weak, because the reactor keeps this alive as long as a timer is set.
  private weak var pool: PostgresPool?
  private let limit: Duration
  private var usedAt: UInt64 = 0
  private var timer: TimerToken?

  /// Whether the sessions were ever closed for want of work.
  private(set) var hasRested = false

  init(of pool: PostgresPool, limit: Duration) {
    self.pool = pool
    self.limit = limit
  }

  func used(on reactor: isolated Reactor) {
    usedAt = Reactor.now
    if timer == nil { timer = reactor.schedule(after: limit, self) }
  }

  func cancel(on reactor: isolated Reactor) { reactor.cancel(&timer) }
}

extension PoolIdling: TimerHandler {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {
    self.timer = nil
    guard let pool else { return }
    let idle = Duration.nanoseconds(Int64(Reactor.now &- usedAt))
    if idle >= limit, pool.isUnused {
      hasRested = true
      pool.rest(on: reactor)
    } else {
      self.timer = reactor.schedule(after: idle < limit ? limit - idle : limit, self)
    }
  }
}

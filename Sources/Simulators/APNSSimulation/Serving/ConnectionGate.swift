internal import DequeModule

/// Decides whether a client that asks for a connection gets one. Times are monotonic nanoseconds.
struct ConnectionGate {
  private var recent: Deque<UInt64> = []
  private var refusedUntil: UInt64 = 0
  private var refusedNext = 0

  /// Clients turned away since the start.
  private(set) var refusedCount = 0

  /// Turns the next so many clients away.
  mutating func refuse(next count: Int) {
    refusedNext += count
  }

  /// Turns everybody away until then.
  mutating func refuse(until moment: UInt64) {
    refusedUntil = max(refusedUntil, moment)
  }

  mutating func admits(_ limit: ChurnLimit?, now: UInt64) -> Bool {
    let isAdmitted = decide(limit, now: now)
    if !isAdmitted { refusedCount += 1 }
    return isAdmitted
  }

  private mutating func decide(_ limit: ChurnLimit?, now: UInt64) -> Bool {
    if now < refusedUntil { return false }
    if refusedNext > 0 {
      refusedNext -= 1
      return false
    }
    guard let limit else { return true }
    let window = UInt64(limit.seconds) * 1_000_000_000
    while let oldest = recent.first, now >= oldest + window { recent.removeFirst() }
    guard recent.count < limit.connections else {
      recent.removeAll()
      refusedUntil = now + UInt64(limit.refusedMilliseconds) * 1_000_000
      return false
    }
    recent.append(now)
    return true
  }
}

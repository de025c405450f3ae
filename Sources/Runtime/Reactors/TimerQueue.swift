internal import HeapModule

/// Handles a timer. Called on the reactor's thread, once, never after a cancel.
package protocol TimerHandler: AnyObject {
  func timerFired(_ timer: TimerToken, on reactor: isolated Reactor)
}

/// Names one scheduled timer; never reused.
package struct TimerToken: Hashable, Sendable {
  let id: UInt64
}

/// Deadlines in order, on the monotonic clock.
///
/// A heap cannot remove from the middle, so a cancelled timer leaves a dead entry behind. The heap is rebuilt when most
/// entries are dead, so memory stays proportional to the live timers.
struct TimerQueue {
  private struct Entry: Comparable {
    let deadline: UInt64
    let token: TimerToken

    static func < (a: Entry, b: Entry) -> Bool {
      (a.deadline, a.token.id) < (b.deadline, b.token.id)
    }
  }

  /// Dead entries tolerated before a rebuild, regardless of their share.
  private static let deadEntriesMin = 1024

  private var heap = Heap<Entry>()
  private var live: [TimerToken: any TimerHandler] = [:]
  private var lastID: UInt64 = 0

  var count: Int { live.count }

  var entriesIncludingDead: Int { heap.count }

  mutating func schedule(at deadline: UInt64, _ handler: any TimerHandler) -> TimerToken {
    lastID += 1
    let token = TimerToken(id: lastID)
    live[token] = handler
    heap.insert(Entry(deadline: deadline, token: token))
    return token
  }

  mutating func cancel(_ token: TimerToken) {
    live[token] = nil
    if heap.count > 2 * live.count + Self.deadEntriesMin { rebuild() }
  }

  /// The earliest deadline of a live timer, in monotonic nanoseconds.
  mutating func nextDeadline() -> UInt64? {
    while let first = heap.min {
      if live[first.token] != nil { return first.deadline }
      heap.removeMin()
    }
    return nil
  }

  /// Removes one timer whose deadline is not after `now`.
  mutating func popDue(now: UInt64) -> (TimerToken, any TimerHandler)? {
    guard let deadline = nextDeadline(), deadline <= now, let entry = heap.popMin() else { return nil }
    return live.removeValue(forKey: entry.token).map { (entry.token, $0) }
  }

  private mutating func rebuild() {
    heap = Heap(heap.unordered.filter { live[$0.token] != nil })
  }
}

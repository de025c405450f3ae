import Testing

@testable import Reactors

@Suite("Timer queue")
struct TimerQueueTests {
  private final class Target: TimerHandler {
    func timerFired(_ timer: TimerToken, on reactor: isolated Reactor) {}
  }

  @Test("timers come due in the order of their deadlines, equal ones in the order they were made")
  func order() {
    var queue = TimerQueue()
    let target = Target()
    let late = queue.schedule(at: 30, target)
    let first = queue.schedule(at: 10, target)
    let second = queue.schedule(at: 10, target)
    #expect(queue.popDue(now: 9) == nil)
    #expect(queue.popDue(now: 10)?.0 == first)
    #expect(queue.popDue(now: 10)?.0 == second)
    #expect(queue.popDue(now: 29) == nil)
    #expect(queue.popDue(now: 30)?.0 == late)
  }

  @Test("a cancelled timer neither fires nor sets the next deadline")
  func cancel() {
    var queue = TimerQueue()
    let target = Target()
    let cancelled = queue.schedule(at: 10, target)
    _ = queue.schedule(at: 20, target)
    queue.cancel(cancelled)
    #expect(queue.nextDeadline() == 20)
    #expect(queue.count == 1)
  }

  @Test("a million cancelled timers do not stay in memory")
  func rebuild() {
    var queue = TimerQueue()
    let target = Target()
    for deadline in 0..<1_000_000 { queue.cancel(queue.schedule(at: UInt64(deadline), target)) }
    #expect(queue.entriesIncludingDead <= 4096)
  }
}

private func == (a: (TimerToken, any TimerHandler)?, b: TimerToken?) -> Bool { a?.0 == b }

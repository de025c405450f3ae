import Testing

@testable import PushPipeline

@Suite("A lane's breaker")
struct CircuitBreakerTests {
  private static let second: UInt64 = 1_000_000_000

  /// Lets some pushes through and fails them at these moments, in milliseconds.
  private func breaker(failingAt moments: [UInt64]) -> CircuitBreaker {
    var breaker = CircuitBreaker()
    for moment in moments {
      _ = breaker.admit(now: moment * 1_000_000)
      breaker.failed("Shutdown", now: moment * 1_000_000, draw: 0.5)
    }
    return breaker
  }

  @Test(
    "it opens after five faults over a second without a success between them",
    arguments: [
      ([0, 1, 2, 3, 999], true), ([0, 1, 2, 3, 1000], false), ([0, 1, 2, 1000], true), ([0, 0, 0, 0, 0, 0, 0], true),
      ([0, 400, 800, 1200, 1600], false), ([], true),
    ] as [([UInt64], Bool)])
  func opens(_ faults: [UInt64], _ isClosed: Bool) {
    #expect(breaker(failingAt: faults).isClosed == isClosed)
  }

  @Test("a success in between starts the count anew")
  func success() {
    var breaker = breaker(failingAt: [0, 300, 600, 900])
    breaker.succeeded()
    #expect(breaker.lastFault == nil)
    for moment in [1000, 1300, 1600, 1900] as [UInt64] {
      breaker.failed("Shutdown", now: moment * 1_000_000, draw: 0.5)
    }
    #expect(breaker.isClosed)
    breaker.failed("Shutdown", now: 2 * Self.second, draw: 0.5)
    #expect(!breaker.isClosed)
  }

  @Test("open, it lets nothing through before its time, and then one push alone")
  func probe() {
    var breaker = breaker(failingAt: [0, 1, 2, 3, 1000])
    let opened = Self.second
    #expect(!breaker.mayAdmit(now: opened + 499_999_999))
    #expect(breaker.mayAdmit(now: opened + 500_000_000))
    let admitted = [499_999_999, 500_000_000, 60 * Self.second].map { breaker.admit(now: opened + $0) }
    #expect(admitted == [false, true, false])
    breaker.succeeded()
    #expect(breaker.isClosed)
    let afterwards = [breaker.admit(now: opened), breaker.admit(now: opened)]
    #expect(afterwards == [true, true])
  }

  @Test("each failed probe doubles the wait for the next, up to five seconds")
  func doubling() {
    var breaker = breaker(failingAt: [0, 1, 2, 3, 1000])
    var now = Self.second
    var waits: [UInt64] = []
    for wait in [500, 1000, 2000, 4000, 5000, 5000] as [UInt64] {
      let due = now + wait * 1_000_000
      waits += !breaker.mayAdmit(now: due - 1) && breaker.admit(now: due) ? [wait] : []
      breaker.failed("Shutdown", now: due, draw: 0.5)
      now = due
    }
    #expect(waits == [500, 1000, 2000, 4000, 5000, 5000])
  }

  @Test(
    "the wait is drawn from a quarter around it", arguments: [(0.0, 375), (0.5, 500), (1.0, 625)] as [(Double, UInt64)])
  func jitter(_ draw: Double, _ milliseconds: UInt64) {
    var breaker = CircuitBreaker()
    for moment in [0, 1, 2, 3, 1000] as [UInt64] { breaker.failed(nil, now: moment * 1_000_000, draw: draw) }
    let due = Self.second + milliseconds * 1_000_000
    #expect(!breaker.mayAdmit(now: due - 1))
    #expect(breaker.mayAdmit(now: due))
  }

  @Test("what was sent before it opened and fails afterwards changes nothing")
  func stragglers() {
    var breaker = breaker(failingAt: [0, 1, 2, 3, 1000])
    for _ in 0..<100 { breaker.failed("IdleTimeout", now: Self.second, draw: 0.5) }
    #expect(breaker.mayAdmit(now: Self.second + 500_000_000))
  }
}

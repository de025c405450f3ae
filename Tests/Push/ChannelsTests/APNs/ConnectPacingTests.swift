import Testing

@testable import Channels

@Suite("The budget of connects")
struct ConnectBudgetTests {
  private static let second: UInt64 = 1_000_000_000
  private static let start = 1000 * second

  private func budget(spending count: Int, burst: Int = 3) -> ConnectBudget {
    var budget = ConnectBudget(burst: burst, interval: .seconds(2))
    for _ in 0..<count { budget.spend(now: Self.start) }
    return budget
  }

  @Test(
    "a burst goes at once, the next waits for its interval", arguments: [(0, 0), (2, 0), (3, 2), (4, 4)])
  func burst(spent: Int, seconds: Int) {
    #expect(budget(spending: spent).wait(now: Self.start) == .seconds(seconds))
  }

  @Test("time fills it up again, and never beyond the burst")
  func refilling() {
    var budget = budget(spending: 3)
    #expect(budget.wait(now: Self.start + Self.second) == .seconds(1))
    #expect(budget.wait(now: Self.start + 2 * Self.second) == .zero)
    let later = Self.start + 1000 * Self.second
    for _ in 0..<3 {
      #expect(budget.wait(now: later) == .zero)
      budget.spend(now: later)
    }
    #expect(budget.wait(now: later) == .seconds(2))
  }

  @Test("a connection that was worth its opening gives its connect back")
  func refund() {
    var budget = budget(spending: 3)
    budget.refund()
    #expect(budget.wait(now: Self.start) == .zero)
    var unused = ConnectBudget(burst: 1, interval: .seconds(2))
    unused.refund()
    unused.spend(now: Self.start)
    #expect(unused.wait(now: Self.start) == .seconds(2))
  }

  @Test("no minute of the defaults sees more than fifty connects")
  func defaults() {
    let configuration = APNSConfiguration()
    var budget = ConnectBudget(burst: configuration.connectBurst, interval: configuration.connectInterval)
    var connects = 0
    for tick in 0..<600 {
      let now = Self.start + UInt64(tick) * Self.second / 10
      while budget.wait(now: now) == .zero {
        budget.spend(now: now)
        connects += 1
      }
    }
    #expect(connects == 49)
  }
}

@Suite("The wait before a connect")
struct ReconnectBackoffTests {
  @Test(
    "none after a success, then a second doubling to sixty; the draw takes the upper half",
    arguments: [(0, 0), (1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (8, 60), (1000, 60)])
  func doubling(failures: Int, seconds: Int) {
    var backoff = ReconnectBackoff()
    for _ in 0..<failures { backoff.failed() }
    #expect(backoff.wait(draw: 0) == .seconds(seconds) / 2)
    #expect(backoff.wait(draw: 1.0.nextDown) <= .seconds(seconds))
    backoff.succeeded()
    #expect(backoff.wait(draw: 0.5) == .zero)
  }

  @Test("a refused credential takes it to a minute at once, and a success back to none")
  func refused() {
    var backoff = ReconnectBackoff()
    backoff.refused()
    #expect(backoff.wait(draw: 1.0.nextDown) > .seconds(59))
    #expect(backoff.wait(draw: 0) == .seconds(30))
    backoff.succeeded()
    #expect(backoff.wait(draw: 0) == .zero)
  }
}

@Suite("Slow start")
struct SlowStartTests {
  @Test("a pool that works has no bound")
  func unbounded() {
    var slowStart = SlowStart()
    slowStart.succeeded()
    #expect(slowStart.limit == .max)
  }

  @Test("after an outage each round of successes doubles the bound, until it is one connection's streams")
  func doubling() {
    var slowStart = SlowStart()
    slowStart.restart()
    var limits: [Int] = []
    while slowStart.limit < .max {
      let limit = slowStart.limit
      limits.append(limit)
      for _ in 1..<limit { slowStart.succeeded() }
      #expect(slowStart.limit == limit)
      slowStart.succeeded()
    }
    #expect(limits == [16, 32, 64, 128, 256, 512, 1024])
  }

  @Test("five faults in a row are an outage, four with a success behind them are not")
  func faults() {
    var slowStart = SlowStart()
    for _ in 0..<4 { slowStart.failed() }
    slowStart.succeeded()
    for _ in 0..<4 { slowStart.failed() }
    #expect(slowStart.limit == .max)
    slowStart.failed()
    #expect(slowStart.limit == 16)
  }

  @Test("another outage begins at the first round again")
  func again() {
    var slowStart = SlowStart()
    slowStart.restart()
    for _ in 0..<20 { slowStart.succeeded() }
    #expect(slowStart.limit == 32)
    slowStart.restart()
    for _ in 0..<15 { slowStart.succeeded() }
    #expect(slowStart.limit == 16)
  }
}

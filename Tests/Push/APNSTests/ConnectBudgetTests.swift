import Testing

@testable import APNS

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

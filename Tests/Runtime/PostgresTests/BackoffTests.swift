import Testing

@testable import Postgres

@Suite("Backoff")
struct BackoffTests {
  @Test("the ceiling doubles from 50 ms up to 5 s and stays there")
  func ceilings() {
    var backoff = Backoff()
    var generator = SystemRandomNumberGenerator()
    let ceilings: [Duration] = (0..<9).map { _ in
      defer { _ = backoff.next(using: &generator) }
      return backoff.ceiling
    }
    #expect(ceilings == [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000].map { .milliseconds($0) })
    for _ in 0..<1000 { _ = backoff.next(using: &generator) }
    #expect(backoff.ceiling == .seconds(5))
  }

  @Test("a wait lies anywhere between nothing and the ceiling")
  func jitter() {
    var lowest = Fixed(value: 0)
    var highest = Fixed(value: .max)
    var backoff = Backoff()
    #expect(backoff.next(using: &lowest) == .zero)
    #expect(backoff.next(using: &highest) == .milliseconds(100) - .nanoseconds(1))
  }

  @Test("a success makes the next wait short again")
  func reset() {
    var backoff = Backoff()
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<20 { _ = backoff.next(using: &generator) }
    backoff.reset()
    #expect(backoff.ceiling == .milliseconds(50))
  }
}

private struct Fixed: RandomNumberGenerator {
  let value: UInt64

  mutating func next() -> UInt64 { value }
}

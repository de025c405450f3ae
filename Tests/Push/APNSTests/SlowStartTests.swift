import Testing

@testable import APNS

@Suite("Slow start")
struct SlowStartTests {
  @Test("a lane that works has no bound")
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

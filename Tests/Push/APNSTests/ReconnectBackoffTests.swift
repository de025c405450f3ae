import Testing

@testable import APNS

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

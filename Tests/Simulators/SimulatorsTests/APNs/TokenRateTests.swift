import Testing

@testable import Simulators

@Suite("The rate of a device")
struct TokenRateTests {
  @Test("as many pushes as the rate says are taken at once, and one more for each share of the time that has passed")
  func edges() {
    var meter = TokenRateMeter()
    let rate = TokenRate(pushes: 3, seconds: 30)
    let moments: [Int64] = [
      0, 0, 0, 0, 9_999_999, 10_000_000, 10_000_000, 40_000_000, 40_000_000, 40_000_000, 40_000_000,
    ]
    let admitted = moments.map { meter.admits("aa", rate, now: WallInstant(microseconds: 1_000_000 + $0)) }
    #expect(admitted == [true, true, true, false, false, true, false, true, true, true, false])
  }

  @Test("devices do not count for one another")
  func apart() {
    var meter = TokenRateMeter()
    let rate = TokenRate(pushes: 1, seconds: 60)
    let admitted = ["aa", "bb", "aa", "bb"].map { meter.admits($0, rate, now: WallInstant(seconds: 1)) }
    #expect(admitted == [true, true, false, false])
  }

  @Test("numbers below one count as one")
  func leastRate() {
    #expect(TokenRate(pushes: 0, seconds: -1) == TokenRate(pushes: 1, seconds: 1))
  }
}

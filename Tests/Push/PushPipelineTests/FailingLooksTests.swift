import Testing

@testable import Postgres
@testable import PushPipeline

@Suite("Failing looks")
struct FailingLooksTests {
  private static let millisecond: UInt64 = 1_000_000

  @Test(
    "the waits double from 100 ms to a minute, less up to a half by chance; a wake-up ends one after five seconds",
    arguments: [(1, 100, 100), (2, 200, 200), (6, 3200, 3200), (7, 6400, 5000), (10, 51_200, 5000), (12, 60_000, 5000)])
  func waits(failures: Int, longest: UInt64, woken: UInt64) {
    var (late, early) = (FailingLooks(), FailingLooks())
    for _ in 0..<failures {
      late.failed(now: 7, draw: 0.999_999_999_999)
      early.failed(now: 7, draw: 0)
    }
    let edge = 7 + longest * Self.millisecond
    #expect(late.isPutOff(isWoken: false, now: edge - Self.millisecond) && !late.isPutOff(isWoken: false, now: edge))
    #expect(early.isPutOff(isWoken: false, now: 7 + longest * Self.millisecond / 2 - 1))
    #expect(!early.isPutOff(isWoken: false, now: 7 + longest * Self.millisecond / 2))
    let wokenEdge = 7 + woken * Self.millisecond
    #expect(late.isPutOff(isWoken: true, now: wokenEdge - Self.millisecond))
    #expect(!late.isPutOff(isWoken: true, now: wokenEdge))
  }

  @Test("a look that does not fail puts nothing off, and the next failure is tried again soon")
  func success() {
    var looks = FailingLooks()
    #expect(!looks.isPutOff(isWoken: false, now: 0))
    for _ in 0..<9 { looks.failed(now: 7, draw: 0) }
    looks.succeeded()
    #expect(looks.count == 0 && !looks.isPutOff(isWoken: false, now: 7))
    looks.failed(now: 7, draw: 0)
    #expect(!looks.isPutOff(isWoken: false, now: 7 + 50 * Self.millisecond))
  }

  @Test("claims are well for three seconds after the last answer, and not a nanosecond longer")
  func health() {
    var health = ClaimHealth(now: 0)
    #expect(health.fault(now: 1) != nil, "nothing has been asked yet")
    health.answered(now: 1000 * Self.millisecond)
    #expect(health.fault(now: 4000 * Self.millisecond) == nil)
    #expect(health.fault(now: 4001 * Self.millisecond)?.hasSuffix("the database does not answer") == true)
    #expect(health.age(now: 4001 * Self.millisecond) == .milliseconds(3001))
  }

  @Test("claims of which some are refused are not well three seconds after the first refusal, whatever others bring")
  func partial() {
    var health = ClaimHealth(now: 0)
    health.failed(PostgresError(.server), now: 500 * Self.millisecond)
    health.answered(now: 4000 * Self.millisecond)
    #expect(health.fault(now: 3500 * Self.millisecond) == nil)
    #expect(health.fault(now: 4000 * Self.millisecond) != nil)
    health.recovered()
    #expect(health.fault(now: 4000 * Self.millisecond) == nil)
  }
}

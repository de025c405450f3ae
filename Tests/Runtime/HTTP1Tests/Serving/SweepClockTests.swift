import Testing

@testable import HTTP1

@Suite struct SweepClockTests {
  /// Sweeps of a second, so that numbers of them can be read as seconds; each time-out has one more.
  private func clock(rate: Int) -> SweepClock {
    var timeouts = HTTPTimeouts()
    timeouts.reserve = .seconds(4)
    timeouts.linger = .seconds(4)
    timeouts.bodyGrace = .seconds(5)
    timeouts.body = .seconds(30)
    timeouts.bodyBytesPerSecondMin = rate
    return SweepClock(timeouts)
  }

  @Test(
    "content has its grace and a second for each second's bytes, and never more than its whole time",
    arguments: [
      (0, 6), (1, 6), (999, 6), (1000, 7), (1999, 7), (24_999, 30), (25_000, 31), (26_000, 31), (1_000_000, 31),
    ])
  func bodyRate(_ received: Int, _ sweeps: Int) {
    #expect(clock(rate: 1000).body(afterReceiving: received) == sweeps)
  }

  @Test("without a rate content has its whole time")
  func noRate() {
    #expect(clock(rate: 0).body(afterReceiving: 0) == 31)
  }

  @Test(
    "sweeps that are shorter than a second's part of a byte change no rate",
    arguments: [(1, 1, 100), (1, 2, 200), (3, 1, 33), (150, 3, 2), (1, Int.max, 3000)])
  func shortSweeps(_ rate: Int, _ received: Int, _ sweeps: Int) {
    var timeouts = HTTPTimeouts()
    timeouts.linger = .milliseconds(40)
    timeouts.bodyBytesPerSecondMin = rate
    let clock = SweepClock(timeouts)
    #expect(clock.interval == .milliseconds(10))
    #expect(clock.body(afterReceiving: received) == min(clock.body, clock.bodyGrace + sweeps))
  }

  @Test("the clock ticks four times within the shortest time-out, at most every second")
  func interval() {
    #expect(clock(rate: 1).interval == .seconds(1))
    #expect(SweepClock(HTTPTimeouts()).interval == .milliseconds(500))
  }
}

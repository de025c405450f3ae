import PushPipeline
import Testing

@Suite("The poll schedule")
struct PollScheduleTests {
  private static let millisecond: UInt64 = 1_000_000

  /// A schedule and a clock that only this test moves.
  private struct Rig {
    var schedule = PollSchedule(now: 1000)
    var now: UInt64 = 1000

    mutating func look(found events: Int, after milliseconds: UInt64 = 0) {
      now += milliseconds * PollScheduleTests.millisecond
      schedule.looked(found: events, now: now)
    }
  }

  @Test("it looks again after a millisecond, then twice as late each time, until a second")
  func doubling() {
    var rig = Rig()
    var waits = [rig.schedule.wait]
    for _ in 0..<12 {
      rig.look(found: 0)
      waits.append(rig.schedule.wait)
    }
    let expected = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000, 1000].map { Duration.milliseconds($0) }
    #expect(waits == expected)
  }

  @Test("a single event brings the step back to its shortest")
  func reset() {
    var rig = Rig()
    for _ in 0..<12 { rig.look(found: 0) }
    rig.look(found: 1)
    #expect(rig.schedule.wait == .milliseconds(1))
    #expect(!rig.schedule.isBusy)
  }

  @Test("busy begins with the 32nd event of a span", arguments: [(31, false), (32, true), (33, true)])
  func busyThreshold(events: Int, isBusy: Bool) {
    var rig = Rig()
    rig.look(found: events - 1, after: 1)
    #expect(!rig.schedule.isBusy || events > 32)
    rig.look(found: 1, after: 1)
    #expect(rig.schedule.isBusy == isBusy)
  }

  @Test("events are counted within a span of 250 ms, not across its end", arguments: [(249, true), (250, false)])
  func spanEnd(milliseconds: UInt64, isBusy: Bool) {
    var rig = Rig()
    rig.look(found: 16, after: milliseconds)
    rig.look(found: 16)
    #expect(rig.schedule.isBusy == isBusy)
  }

  @Test("busy ends when a whole span brings fewer than 8 events", arguments: [(0, false), (7, false), (8, true)])
  func calmThreshold(events: Int, isBusy: Bool) {
    var rig = Rig()
    rig.look(found: 64, after: 250)
    #expect(rig.schedule.isBusy)
    rig.look(found: events, after: 249)
    #expect(rig.schedule.isBusy, "a span is judged at its end")
    rig.look(found: 0, after: 1)
    #expect(rig.schedule.isBusy == isBusy)
    #expect(rig.schedule.wait == .milliseconds(1))
  }

  @Test("while busy it polls at one pace however many looks are idle")
  func busyPace() {
    var rig = Rig()
    rig.look(found: 64)
    for _ in 0..<20 { rig.look(found: 0, after: 1) }
    #expect(rig.schedule.isBusy)
    #expect(rig.schedule.wait == .milliseconds(1))
  }

  @Test("a failed look ends busy and waits as an idle one: 100 ms, doubling to a second")
  func failure() {
    var rig = Rig()
    rig.look(found: 64)
    var waits: [Duration] = []
    for _ in 0..<6 {
      rig.schedule.failed()
      waits.append(rig.schedule.wait)
    }
    #expect(!rig.schedule.isBusy)
    #expect(waits == [100, 200, 400, 800, 1000, 1000].map { .milliseconds($0) })
    rig.look(found: 1)
    #expect(rig.schedule.wait == .milliseconds(1))
  }
}

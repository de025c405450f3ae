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

  @Test("while busy it polls at one pace however many looks are idle, and twice as fast after those that are not")
  func busyPace() {
    var rig = Rig()
    rig.look(found: 64)
    #expect(rig.schedule.wait == .microseconds(500))
    for _ in 0..<20 { rig.look(found: 0, after: 1) }
    #expect(rig.schedule.isBusy)
    #expect(rig.schedule.wait == .milliseconds(1))
  }

  @Test("a failed look ends busy, and the next ones wait 100 ms, doubling to a quarter of a second")
  func failure() {
    var rig = Rig()
    rig.look(found: 64)
    var waits: [Duration] = []
    for _ in 0..<6 {
      rig.schedule.failed()
      waits.append(rig.schedule.wait)
    }
    #expect(!rig.schedule.isBusy)
    #expect(waits == [100, 200, 250, 250, 250, 250].map { .milliseconds($0) })
    rig.look(found: 1)
    #expect(rig.schedule.wait == .milliseconds(1))
  }

  @Test(
    "where notifying is cheap, busy begins when it takes a quarter of the time",
    arguments: [
      (32, 1953, false), (32, 1954, true), (64, 976, false), (64, 977, true), (384, 10, false), (385, 10, true),
    ])
  func cheapNotifications(events: Int, microseconds: Int, isBusy: Bool) {
    var rig = Rig()
    rig.schedule.notifyCostMeasured(.microseconds(microseconds), now: rig.now)
    rig.look(found: events)
    #expect(rig.schedule.isBusy == isBusy)
  }

  @Test("what a notification cost more than a second ago counts no more", arguments: [(999, false), (1000, true)])
  func oldCost(milliseconds: UInt64, isBusy: Bool) {
    var rig = Rig()
    rig.schedule.notifyCostMeasured(.microseconds(100), now: rig.now)
    rig.look(found: 0, after: milliseconds)
    rig.look(found: 32)
    #expect(rig.schedule.isBusy == isBusy)
  }

  @Test(
    "busy ends when notifying of a whole span would take an eighth of the time at the most",
    arguments: [(312, false), (313, true)])
  func cheapAgain(microseconds: Int, isBusy: Bool) {
    var rig = Rig()
    rig.look(found: 100)
    #expect(rig.schedule.isBusy)
    rig.schedule.notifyCostMeasured(.microseconds(microseconds), now: rig.now)
    rig.look(found: 0, after: 250)
    #expect(rig.schedule.isBusy == isBusy)
  }

  @Test("the cost is asked for from half of a busy span on, once in a span, and once a second while busy")
  func asksForCost() {
    var rig = Rig()
    rig.schedule.isHearing = true
    rig.look(found: 15)
    var answers = [rig.schedule.asksForNotifyCost(now: rig.now)]
    rig.look(found: 1)
    for milliseconds: UInt64 in [0, 249, 250] {
      answers.append(rig.schedule.asksForNotifyCost(now: rig.now + milliseconds * Self.millisecond))
    }
    #expect(answers == [false, true, false, true])
    rig.look(found: 16)
    #expect(rig.schedule.isBusy)
    answers = [UInt64(1249), 1250].map { rig.schedule.asksForNotifyCost(now: rig.now + $0 * Self.millisecond) }
    #expect(answers == [false, true])
  }

  @Test("who does not hear asks for no cost")
  func deaf() {
    var rig = Rig()
    rig.look(found: 64)
    let asks = rig.schedule.asksForNotifyCost(now: rig.now)
    #expect(!asks)
  }

  @Test("who is woken for what comes looks again after 32 ms")
  func woken() {
    var rig = Rig()
    rig.schedule.isHearing = true
    rig.look(found: 1)
    #expect(rig.schedule.wait == .milliseconds(32))
    rig.look(found: 0)
    #expect(rig.schedule.wait == .milliseconds(64))
  }

  @Test("who does not lead is woken by its neighbour, and never busy")
  func following() {
    var configuration = PollSchedule.Configuration()
    configuration.isLeading = false
    var schedule = PollSchedule(configuration, now: 1000)
    schedule.looked(found: 1000, now: 2000)
    #expect(!schedule.isBusy)
    #expect(schedule.wait == .milliseconds(32))
  }
}

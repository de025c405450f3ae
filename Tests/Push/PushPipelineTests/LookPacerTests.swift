import Testing

@testable import Postgres
@testable import PushPipeline

@Suite("Thorough looks")
struct ThoroughLooksTests {
  private static let millisecond: UInt64 = 1_000_000

  @Test("the first look sees everything, and so does each that was asked for, however soon")
  func asked() {
    var looks = ThoroughLooks()
    #expect(looks.isAskedFor)
    #expect(looks.wait(isBroughtByWake: false, now: 0) == .zero)
    looks.begin(at: 7)
    #expect(!looks.isAskedFor)
    looks.ask()
    #expect(looks.isAskedFor)
    #expect(looks.wait(isBroughtByWake: false, now: 7) == .zero)
  }

  @Test("what is asked for while a look is under way is looked at by the next")
  func meanwhile() {
    var looks = ThoroughLooks()
    looks.begin(at: 7)
    looks.ask()
    looks.begin(at: 8)
    #expect(looks.wait(isBroughtByWake: false, now: 8) > .zero)
  }

  @Test(
    "everything is seen every 20 ms, and 2 ms after the last time when a wake-up brought no message",
    arguments: [(false, 19, false), (false, 20, true), (true, 1, false), (true, 2, true)] as [(Bool, UInt64, Bool)])
  func pace(_ isBroughtByWake: Bool, _ milliseconds: UInt64, _ isDue: Bool) {
    var looks = ThoroughLooks()
    looks.begin(at: 7)
    looks.end(places: 0, leftNothing: true, at: 8)
    let wait = looks.wait(isBroughtByWake: isBroughtByWake, now: 7 + milliseconds * Self.millisecond)
    #expect((wait == .zero) == isDue)
  }

  @Test(
    """
    one that took long for nothing is followed by four times as long, from 10 ms on by nineteen, a second at the most, even \
    when it is asked for
    """,
    arguments: [
      (5, 0, 20), (6, 0, 24), (9, 0, 36), (10, 0, 190), (52, 0, 988), (53, 0, 1000), (900, 0, 1000), (100, 95, 20),
      (100, 91, 36), (100, 90, 190), (20, 250, 20),
    ] as [(UInt64, Int, UInt64)])
  func pause(_ taken: UInt64, _ places: Int, _ pause: UInt64) {
    var looks = ThoroughLooks()
    looks.begin(at: 0)
    let end = taken * Self.millisecond
    looks.end(places: places, leftNothing: true, at: end)
    looks.ask()
    let isPaused = pause > 20
    #expect((looks.wait(isBroughtByWake: true, now: end) > .zero) == isPaused)
    #expect(looks.wait(isBroughtByWake: true, now: end + pause * Self.millisecond) == .zero)
    if isPaused { #expect(looks.wait(isBroughtByWake: true, now: end + pause * Self.millisecond - 1) > .zero) }
  }

  @Test(
    "it asks first what waits, for ten seconds from a claim of everything, unless other work is known to wait",
    arguments: [(9999, false, true), (10_000, false, false), (9999, true, false)] as [(UInt64, Bool, Bool)])
  func asksFirst(_ milliseconds: UInt64, _ isAskedFor: Bool, _ asksFirst: Bool) {
    var looks = ThoroughLooks()
    #expect(!looks.asksFirst(now: 0))
    looks.begin(at: 0)
    if isAskedFor { looks.ask() }
    #expect(looks.asksFirst(now: milliseconds * Self.millisecond) == asksFirst)
  }

  @Test("the answer that nothing else waits counts as a look that left nothing, with its pause, and not as a claim")
  func nothingWaits() {
    var looks = ThoroughLooks()
    looks.begin(at: 0)
    looks.nothingWaits(askedAt: 30 * Self.millisecond, now: 31 * Self.millisecond)
    #expect(looks.wait(isBroughtByWake: false, now: 49 * Self.millisecond) > .zero)
    #expect(looks.wait(isBroughtByWake: false, now: 50 * Self.millisecond) == .zero)
    #expect(looks.lookBack(now: 31 * Self.millisecond) == .milliseconds(1001))
    looks.nothingWaits(askedAt: 50 * Self.millisecond, now: 59 * Self.millisecond)
    #expect(looks.isPaused(now: 95 * Self.millisecond - 1))
    #expect(!looks.isPaused(now: 95 * Self.millisecond))
    looks.nothingWaits(askedAt: 10_000 * Self.millisecond, now: 10_000 * Self.millisecond)
    #expect(looks.wait(isBroughtByWake: false, now: 10_000 * Self.millisecond) == .zero)
  }

  @Test("a look for messages reaches to a second before the last look that left nothing began")
  func lookBack() {
    var looks = ThoroughLooks()
    #expect(looks.lookBack(now: 0) == nil)
    looks.begin(at: 0)
    looks.end(places: 128, leftNothing: false, at: Self.millisecond)
    #expect(looks.lookBack(now: Self.millisecond) == nil)
    looks.begin(at: 2 * Self.millisecond)
    looks.end(places: 0, leftNothing: true, at: 5 * Self.millisecond)
    #expect(looks.lookBack(now: 12 * Self.millisecond) == .milliseconds(1010))
    looks.begin(at: 20 * Self.millisecond)
    looks.end(places: 128, leftNothing: false, at: 21 * Self.millisecond)
    #expect(looks.lookBack(now: 22 * Self.millisecond) == .milliseconds(1020))
  }
}

@Suite("Looks while events of other kinds abound")
struct OthersAboundTests {
  @Test(
    "begin with messages, until a second after one has brought sixteen, and take few events until a second after messages",
    arguments: [
      (16, 1, 999, true, 16), (16, 1, 1000, false, 128), (16, nil, 999, true, 128), (15, 1, 0, false, 128),
    ] as [(Int, UInt64?, UInt64, Bool, Int)])
  func pace(others: Int, messagesAt: UInt64?, milliseconds: UInt64, abound: Bool, taken: Int) {
    var pacer = LookPacer(PollSchedule(now: 0))
    pacer.thorough.begin(at: 0)
    pacer.messagesAnswered(found: 0, now: 1)
    if let messagesAt { pacer.messagesAnswered(found: 1, now: messagesAt) }
    pacer.everythingAnswered(places: 128, others: others, leftNothing: true, now: 1)
    pacer.ask()
    let now = 1 + milliseconds * 1_000_000
    #expect(pacer.beginsWithMessages(isWoken: false, now: now) == abound)
    #expect(pacer.eventsOfEverything(128, now: now) == taken)
    #expect(pacer.eventsOfEverything(3, now: now) == 3)
    #expect(pacer.thorough.wait(isBroughtByWake: false, now: now) == .zero)
  }

  @Test(
    "they go on abounding while looks within a second bring sixteen together, however few each",
    arguments: [(8, true), (7, false)])
  func together(count: Int, abound: Bool) {
    var others = OtherKinds()
    others.found(15, now: 0)
    #expect(!others.abound(now: 0))
    let second: UInt64 = 1_000_000_000
    others.found(16, now: second)
    others.found(0, now: 2 * second - 1)
    others.found(count, now: 2 * second)
    others.found(8, now: 3 * second - 2)
    #expect(others.abound(now: 3 * second) == abound)
  }
}

@Suite("The flow of messages")
struct MessageFlowTests {
  @Test(
    "it goes on for a second after the last one",
    arguments: [(nil, 7, false), (7, 1_000_000_006, true), (7, 1_000_000_007, false)])
  func flow(_ cameAt: UInt64?, _ now: UInt64, _ isFlowing: Bool) {
    let flow = MessageFlow()
    if let cameAt { flow.came(now: cameAt) }
    #expect(flow.isFlowing(now: now) == isFlowing)
  }
}

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

@Suite("The poll schedule")
struct PollScheduleTests {
  @Test(
    "a poll of busy times that probably finds nothing asks for messages before it claims them, one that was woken does not",
    arguments: [(31, false), (32, true), (99, true), (100, false), (1000, false)])
  func asksForMessages(events: Int, asks: Bool) {
    var pacer = LookPacer(PollSchedule(now: 0))
    pacer.schedule.looked(found: events, now: 1)
    #expect(pacer.asksForMessages(isWoken: false) == asks)
    #expect(!pacer.asksForMessages(isWoken: true))
  }

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
    #expect(rig.schedule.wait == (isBusy ? .microseconds(2500) : .milliseconds(1)))
  }

  @Test(
    "while busy it looks as often as brings one event, by the last span or by this one, between 0.5 and 2.5 ms",
    arguments: [
      (32, 0, 2500), (100, 0, 2500), (125, 0, 2000), (250, 0, 1000), (250, 100, 1000), (250, 400, 625), (500, 0, 500),
      (1000, 0, 500),
    ])
  func busyPace(last: Int, current: Int, microseconds: Int) {
    var rig = Rig()
    rig.look(found: last, after: 250)
    rig.look(found: current)
    for _ in 0..<20 { rig.look(found: 0, after: 1) }
    #expect(rig.schedule.isBusy)
    #expect(abs((rig.schedule.wait - .microseconds(microseconds)) / .microseconds(1)) <= 1)
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
      (32, 1953, false), (32, 1954, true), (64, 976, false), (64, 977, true), (128, 10, false), (129, 10, true),
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
}

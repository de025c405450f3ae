import Testing

@testable import HTTP2

@Suite("Liveness")
struct LivenessTests {
  @Test("silence is asked about at its limit, suspected when the answer is late, and given up at the PING's limit")
  func silence() {
    var liveness = makeLiveness()
    #expect(liveness.check(now: 99, isBusy: true) == .check(at: 100))
    #expect(liveness.check(now: 100, isBusy: true) == .ping(nextCheck: 104))
    #expect(liveness.check(now: 103, isBusy: true) == .check(at: 104))
    #expect(!liveness.isSuspect)
    #expect(liveness.check(now: 104, isBusy: true) == .suspect(nextCheck: 110))
    #expect(liveness.isSuspect)
    #expect(liveness.check(now: 109, isBusy: true) == .check(at: 110))
    #expect(liveness.check(now: 110, isBusy: true) == .giveUp)
  }

  @Test("where a late answer is no earlier than a missing one, the suspicion comes first all the same")
  func lateAtTheLimit() {
    var liveness = makeLiveness(pingLateAfter: 99)
    #expect(liveness.check(now: 100, isBusy: true) == .ping(nextCheck: 110))
    #expect(liveness.check(now: 110, isBusy: true) == .suspect(nextCheck: 110))
    #expect(liveness.check(now: 110, isBusy: true) == .giveUp)
  }

  @Test("an answer ends the suspicion, and the next PING begins anew")
  func suspicionEnds() {
    var liveness = makeLiveness()
    _ = liveness.check(now: 100, isBusy: true)
    _ = liveness.check(now: 104, isBusy: true)
    liveness.heard(now: 105)
    #expect(!liveness.isSuspect)
    #expect(liveness.check(now: 205, isBusy: true) == .ping(nextCheck: 209))
  }

  @Test("a look that comes late gives the peer its time again, once more for each late look")
  func lateLook() {
    var liveness = makeLiveness()
    #expect(liveness.check(now: 100, isBusy: true) == .ping(nextCheck: 104))
    #expect(liveness.check(now: 107, isBusy: true) == .check(at: 111))
    #expect(liveness.check(now: 113, isBusy: true) == .suspect(nextCheck: 117))
    #expect(liveness.check(now: 120, isBusy: true) == .check(at: 130))
    #expect(liveness.check(now: 132, isBusy: true) == .giveUp)
  }

  @Test("any frame after the PING is a sign of life")
  func heard() {
    var liveness = makeLiveness()
    _ = liveness.check(now: 100, isBusy: true)
    liveness.heard(now: 105)
    #expect(liveness.check(now: 110, isBusy: true) == .check(at: 205))
  }

  @Test("an idle connection is left alone for longer")
  func idle() {
    var liveness = makeLiveness()
    #expect(liveness.check(now: 999, isBusy: false) == .check(at: 1000))
    #expect(liveness.check(now: 1000, isBusy: false) == .ping(nextCheck: 1004))
  }

  @Test("the silence before a request does not count against it")
  func busyAfterIdle() {
    var liveness = makeLiveness()
    liveness.becameBusy(now: 900)
    #expect(liveness.check(now: 901, isBusy: true) == .check(at: 1000))
  }

  private func makeLiveness(pingLateAfter: Int64 = 4) -> Liveness {
    var configuration = HTTP2ClientConfiguration()
    configuration.silenceBeforePing = .nanoseconds(100)
    configuration.idleBeforePing = .nanoseconds(1000)
    configuration.pingLateAfter = .nanoseconds(pingLateAfter)
    configuration.pingTimeout = .nanoseconds(10)
    return Liveness(configuration, now: 0)
  }
}

import PushRules
import Testing

@testable import PushPipeline

@Suite("A lane's breaker")
struct CircuitBreakerTests {
  private static let second: UInt64 = 1_000_000_000

  /// Lets some pushes through and fails them at these moments, in milliseconds.
  private func breaker(failingAt moments: [UInt64]) -> CircuitBreaker {
    var breaker = CircuitBreaker()
    for moment in moments {
      _ = breaker.admit(now: moment * 1_000_000)
      breaker.failed(.outage, now: moment * 1_000_000, draw: 0.5)
    }
    return breaker
  }

  @Test(
    "it opens after five faults over a second without a success between them",
    arguments: [
      ([0, 1, 2, 3, 999], true), ([0, 1, 2, 3, 1000], false), ([0, 1, 2, 1000], true), ([0, 0, 0, 0, 0, 0, 0], true),
      ([0, 400, 800, 1200, 1600], false), ([], true),
    ] as [([UInt64], Bool)])
  func opens(_ faults: [UInt64], _ isClosed: Bool) {
    #expect(breaker(failingAt: faults).isClosed == isClosed)
  }

  @Test("refused settings open it at the fifth at once, since each counts against the connection")
  func refusals() {
    var breaker = CircuitBreaker()
    for number in 1...5 {
      #expect(breaker.isClosed)
      breaker.failed(LaneFault(cause: .configuration, reason: nil), now: UInt64(number), draw: 0.5)
    }
    #expect(!breaker.isClosed)
    #expect(breaker.shutCount == 1)
  }

  @Test("no probe comes before an answer allows it, also one that came when the breaker was open")
  func askedWait() {
    var breaker = CircuitBreaker()
    breaker.stop(LaneFault(cause: .service, reason: nil, askedWait: .seconds(30)), now: 0, draw: 0)
    #expect(!breaker.mayAdmit(now: 30 * Self.second - 1))
    #expect(breaker.mayAdmit(now: 30 * Self.second))
    breaker.failed(LaneFault(cause: .service, reason: nil, askedWait: .seconds(60)), now: 0, draw: 0)
    #expect(!breaker.mayAdmit(now: 60 * Self.second - 1))
    #expect(breaker.mayAdmit(now: 60 * Self.second))
  }

  @Test("how often it has opened is not forgotten when it closes")
  func shutCount() {
    var breaker = opened(by: .connection, isProbing: true)
    breaker.failed(.outage, now: 0, draw: 0.5)
    #expect(breaker.shutCount == 2)
    _ = breaker.admit(now: 60 * Self.second)
    breaker.accepted()
    #expect(breaker.isClosed && breaker.shutCount == 2)
  }

  @Test("a success in between starts the count anew")
  func success() {
    var breaker = breaker(failingAt: [0, 300, 600, 900])
    breaker.accepted()
    #expect(breaker.lastFault == nil)
    for moment in [1000, 1300, 1600, 1900] as [UInt64] {
      breaker.failed(.outage, now: moment * 1_000_000, draw: 0.5)
    }
    #expect(breaker.isClosed)
    breaker.failed(.outage, now: 2 * Self.second, draw: 0.5)
    #expect(!breaker.isClosed)
  }

  @Test("open, it lets nothing through before its time, and then one push alone")
  func probe() {
    var breaker = breaker(failingAt: [0, 1, 2, 3, 1000])
    let opened = Self.second
    #expect(!breaker.mayAdmit(now: opened + 499_999_999))
    #expect(breaker.mayAdmit(now: opened + 500_000_000))
    let admitted = [499_999_999, 500_000_000, 60 * Self.second].map { breaker.admit(now: opened + $0) }
    #expect(admitted == [false, true, false])
    breaker.accepted()
    #expect(breaker.isClosed)
    let afterwards = [breaker.admit(now: opened), breaker.admit(now: opened)]
    #expect(afterwards == [true, true])
  }

  @Test("each failed probe doubles the wait for the next, up to five seconds")
  func doubling() {
    var breaker = breaker(failingAt: [0, 1, 2, 3, 1000])
    var now = Self.second
    var waits: [UInt64] = []
    for wait in [500, 1000, 2000, 4000, 5000, 5000] as [UInt64] {
      let due = now + wait * 1_000_000
      waits += !breaker.mayAdmit(now: due - 1) && breaker.admit(now: due) ? [wait] : []
      breaker.failed(.outage, now: due, draw: 0.5)
      now = due
    }
    #expect(waits == [500, 1000, 2000, 4000, 5000, 5000])
  }

  @Test(
    "the wait is drawn from a quarter around it", arguments: [(0.0, 375), (0.5, 500), (1.0, 625)] as [(Double, UInt64)])
  func jitter(_ draw: Double, _ milliseconds: UInt64) {
    var breaker = CircuitBreaker()
    for moment in [0, 1, 2, 3, 1000] as [UInt64] { breaker.failed(.outage, now: moment * 1_000_000, draw: draw) }
    let due = Self.second + milliseconds * 1_000_000
    #expect(!breaker.mayAdmit(now: due - 1))
    #expect(breaker.mayAdmit(now: due))
  }

  @Test("what was sent before it opened and fails afterwards changes nothing")
  func stragglers() {
    var breaker = breaker(failingAt: [0, 1, 2, 3, 1000])
    for _ in 0..<100 { breaker.failed(.outage, now: Self.second, draw: 0.5) }
    #expect(breaker.mayAdmit(now: Self.second + 500_000_000))
  }

  @Test(
    "a fault that may be one device's counts once for each device",
    arguments: [
      (["a", "b", "c", "d", "e"], true), (["a", "b", "c", "d", "d"], false), (["a", "a", "a", "a", "a", "a"], false),
      (["a", "b", "c", "d", nil], true), ([nil, nil, nil, nil, nil], true), (["a", "b", "b", "c", "d", "e"], true),
    ] as [([String?], Bool)])
  func devices(_ devices: [String?], _ opens: Bool) {
    var breaker = CircuitBreaker()
    for (number, device) in devices.enumerated() {
      let now = UInt64(number) * Self.second
      breaker.failed(LaneFault(cause: .service, reason: nil), device: device, now: now, draw: 0.5)
    }
    #expect(breaker.isClosed != opens)
  }

  /// Opened by this cause at zero; probed at once if it is to be.
  private func opened(by cause: DeliveryFault, isProbing: Bool) -> CircuitBreaker {
    var breaker = CircuitBreaker()
    breaker.stop(LaneFault(cause: cause, reason: "why"), now: 0, draw: 0.5)
    if isProbing { _ = breaker.admit(now: 60 * Self.second) }
    return breaker
  }

  @Test(
    "only an accepted probe shows that a setting is right; any answer shows that an outage is over",
    arguments: [
      // The cause; what an answer does to the open one and to the probed one; the same for an accepted push.
      (DeliveryFault.connection, [true, true], [true, true]), (.service, [true, true], [true, true]),
      (.throttle, [true, true], [true, true]), (.configuration, [false, false], [false, true]),
    ])
  func closing(_ cause: DeliveryFault, _ byAnswer: [Bool], _ byAcceptance: [Bool]) {
    for (number, isProbing) in [false, true].enumerated() {
      var answered = opened(by: cause, isProbing: isProbing)
      answered.answered(now: 60 * Self.second, draw: 0.5)
      #expect(answered.isClosed == byAnswer[number])
      var accepted = opened(by: cause, isProbing: isProbing)
      accepted.accepted()
      #expect(accepted.isClosed == byAcceptance[number])
    }
  }

  @Test("a probe of a refused route that is answered without being accepted is followed by another, later")
  func answeredProbe() {
    var breaker = opened(by: .configuration, isProbing: true)
    breaker.answered(now: 60 * Self.second, draw: 0.5)
    #expect(!breaker.mayAdmit(now: 62 * Self.second - 1))
    #expect(breaker.mayAdmit(now: 62 * Self.second))
    #expect(breaker.openFault == LaneFault(cause: .configuration, reason: "why"))
  }

  @Test(
    "a refused route and a throttled connection are probed from a second to a minute apart",
    arguments: [DeliveryFault.configuration, .throttle])
  func refusalWaits(_ cause: DeliveryFault) {
    let fault = LaneFault(cause: cause, reason: nil)
    var breaker = CircuitBreaker()
    breaker.stop(fault, now: 0, draw: 0.5)
    var now: UInt64 = 0
    for wait in [1, 2, 4, 8, 16, 32, 60, 60] as [UInt64] {
      let due = now + wait * Self.second
      #expect(!breaker.mayAdmit(now: due - 1))
      let isAdmitted = breaker.admit(now: due)
      #expect(isAdmitted)
      breaker.failed(fault, now: due, draw: 0.5)
      now = due
    }
  }

  @Test("an outage that turns out to be a refusal is one from then on, and the other way round")
  func changingCause() {
    var breaker = opened(by: .connection, isProbing: true)
    breaker.failed(LaneFault(cause: .configuration, reason: "key"), now: 0, draw: 0.5)
    breaker.answered(now: 1, draw: 0.5)
    #expect(breaker.openFault?.reason == "key")
    _ = breaker.admit(now: 60 * Self.second)
    breaker.failed(.outage, now: 0, draw: 0.5)
    breaker.answered(now: 1, draw: 0.5)
    #expect(breaker.isClosed)
  }

  @Test("stopping an open breaker changes its reason and not its time")
  func stoppedTwice() {
    var breaker = opened(by: .connection, isProbing: false)
    breaker.stop(LaneFault(cause: .configuration, reason: "key"), now: 400_000_000, draw: 0.5)
    #expect(breaker.openFault?.reason == "key")
    #expect(breaker.mayAdmit(now: 500_000_000))
  }
}

extension LaneFault {
  fileprivate static let outage = LaneFault(cause: .connection, reason: "Shutdown")
}

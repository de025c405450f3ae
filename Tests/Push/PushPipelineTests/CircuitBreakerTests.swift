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

@Suite("Suspicion against device tokens")
struct TokenSuspicionTests {
  /// On a route where so many pushes were accepted.
  private func suspicion(accepted: Int) -> TokenSuspicion {
    var suspicion = TokenSuspicion()
    for _ in 0..<accepted { suspicion.accepted() }
    return suspicion
  }

  /// What so many refusals in a row of one user's tokens mean.
  private func verdicts(_ count: Int, on suspicion: inout TokenSuspicion) -> [TokenSuspicion.Verdict] {
    (0..<count).map { _ in suspicion.refused() }
  }

  @Test(
    "five users in a row are the route's fault, however much was accepted before; any number of one's tokens is not")
  func row() {
    var suspicion = suspicion(accepted: 1000)
    #expect(verdicts(20, on: &suspicion) == Array(repeating: .badToken, count: 20))
    suspicion.accepted()
    let users = (1...5).map { suspicion.refused(of: PushFixtures.makeID($0)) }
    #expect(users == Array(repeating: .badToken, count: 4) + [.misconfigured])
    suspicion.accepted()
    #expect(suspicion.refused() == .unexplained, "and no token is believed to be bad for a while")
  }

  @Test("a success between two users begins the row anew")
  func brokenRow() {
    var suspicion = suspicion(accepted: 1000)
    for number in UInt8(1)...20 {
      #expect(suspicion.refused(of: PushFixtures.makeID(number)) == .badToken)
      if number.isMultiple(of: 4) { for _ in 0..<20 { suspicion.accepted() } }
    }
  }

  @Test("before anything was accepted the route is suspected, not the token; other answers prove nothing")
  func unproven() {
    var suspicion = TokenSuspicion()
    #expect(!suspicion.isProven)
    for _ in 0..<100 { suspicion.answered() }
    #expect(!suspicion.isProven)
    #expect(verdicts(3, on: &suspicion) == [.misconfigured, .misconfigured, .misconfigured])
    suspicion.accepted()
    #expect(suspicion.isProven)
    #expect(verdicts(1, on: &suspicion) == [.badToken])
  }

  @Test(
    "a fifth of fifty sends or more is the route's fault, less than either is the token's",
    arguments: [
      // Accepted before, refused in a row, what the last refusal means.
      (39, 10, TokenSuspicion.Verdict.badToken), (40, 9, .badToken),  // 49 sends
      (40, 10, .misconfigured), (41, 9, .badToken), (41, 10, .badToken), (41, 11, .misconfigured),  // 50 to 52
      (81, 19, .badToken), (80, 20, .misconfigured), (79, 19, .badToken), (79, 20, .misconfigured),  // 98 to 100
      (1, 1, .badToken), (1, 48, .badToken), (1, 49, .misconfigured),
    ])
  func edges(_ accepted: Int, _ refused: Int, _ last: TokenSuspicion.Verdict) {
    var suspicion = suspicion(accepted: accepted)
    let verdicts = verdicts(refused, on: &suspicion)
    #expect(verdicts.last == last)
    #expect(verdicts.dropLast().allSatisfy { $0 == .badToken })
  }

  @Test("sends that say nothing about their tokens count as sends")
  func otherAnswers() {
    var suspicion = suspicion(accepted: 1)
    for _ in 0..<40 { suspicion.answered() }
    #expect(verdicts(10, on: &suspicion) == Array(repeating: .badToken, count: 10))
    #expect(suspicion.refused() == .misconfigured)
  }

  @Test("what was accepted long ago does not outweigh what is refused now", arguments: [200, 1000, 100_000])
  func recent(_ accepted: Int) {
    var suspicion = suspicion(accepted: accepted)
    let verdicts = verdicts(50, on: &suspicion)
    let first = verdicts.firstIndex(of: .misconfigured)
    #expect(first.map { (24...49).contains($0) } == true, "\(String(describing: first))")
  }

  /// After a fifth of fifty were refused.
  private func wary() -> TokenSuspicion {
    var suspicion = suspicion(accepted: 40)
    _ = verdicts(10, on: &suspicion)
    return suspicion
  }

  @Test("after a crowd of refusals none costs a token until few are refused again")
  func recovery() {
    var suspicion = wary()
    for _ in 0..<10 {
      suspicion.accepted()
      #expect(verdicts(1, on: &suspicion) == [.unexplained])
    }
    for _ in 0..<80 { suspicion.accepted() }
    #expect(suspicion.refused() == .unexplained, "a hundred were sent, and a tenth refused")
    suspicion.accepted()
    #expect(suspicion.refused() == .badToken)
  }

  @Test(
    "a wary route must send more than a hundred before it is trusted again", arguments: [(100, false), (101, true)])
  func trustAgain(_ accepted: Int, _ isTrusted: Bool) {
    var suspicion = wary()
    for _ in 0..<accepted { suspicion.accepted() }
    #expect(suspicion.refused() == (isTrusted ? .badToken : .unexplained))
  }

  @Test(
    "a wary route is not trusted again while a fifth is refused, or turned away for having been refused",
    arguments: [(19, true), (20, false)])
  func trustByShare(_ turnedAway: Int, _ isTrusted: Bool) {
    var suspicion = wary()
    for _ in 0..<turnedAway { suspicion.turnedAway() }
    for _ in 0..<(100 - turnedAway) { suspicion.accepted() }
    for _ in 0..<2 {
      suspicion.turnedAway()
      for _ in 0..<4 { suspicion.accepted() }
    }
    #expect(suspicion.refused() == (isTrusted ? .badToken : .unexplained))
  }

  @Test(
    "on a wary route fifty refusals without a success between them are the route's fault again", arguments: [49, 50])
  func stoppedAgain(_ refusals: Int) {
    var suspicion = wary()
    suspicion.accepted()
    let verdicts = verdicts(refusals, on: &suspicion)
    #expect(verdicts.prefix(49).allSatisfy { $0 == .unexplained })
    #expect(verdicts.last == (refusals < 50 ? .unexplained : .misconfigured))
  }
}

extension TokenSuspicion {
  /// A token of the same user as always.
  fileprivate mutating func refused() -> Verdict { refused(of: PushFixtures.user) }
}

@Suite("The quarantine of device tokens")
struct TokenQuarantineTests {
  private static let hour: UInt64 = 3_600_000_000_000

  @Test(
    "a token stays for an hour, with its reason; another was never there",
    arguments: [(hour - 1, true), (hour, false)])
  func stay(_ after: UInt64, _ isHeld: Bool) {
    var quarantine = TokenQuarantine()
    quarantine.add("aa", reason: "BadDeviceToken", now: 5)
    #expect(quarantine.holds("aa", now: 5 + after) == isHeld)
    #expect(quarantine.reason(for: "aa") == "BadDeviceToken")
    #expect(!quarantine.holds("bb", now: 5))
  }

  @Test("when APNs takes one of them all are released; one that was never there releases nobody")
  func release() {
    var quarantine = TokenQuarantine()
    quarantine.add("aa", reason: nil, now: 0)
    quarantine.add("bb", reason: nil, now: 0)
    quarantine.accepted("cc")
    #expect(quarantine.count == 2)
    quarantine.accepted("aa")
    #expect(quarantine.count == 0)
  }

  @Test("it is bounded: who would be too many is not kept, and those whose time is over make room")
  func bound() {
    var quarantine = TokenQuarantine()
    for number in 0..<TokenQuarantine.devicesMax { quarantine.add("\(number)", reason: nil, now: 0) }
    quarantine.add("late", reason: nil, now: Self.hour - 1)
    #expect(!quarantine.holds("late", now: Self.hour - 1))
    #expect(quarantine.count == TokenQuarantine.devicesMax)
    quarantine.add("later", reason: nil, now: Self.hour)
    #expect(quarantine.holds("later", now: Self.hour))
    #expect(quarantine.count == 1)
  }
}

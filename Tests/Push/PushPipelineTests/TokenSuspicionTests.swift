import Testing

@testable import PushPipeline

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

  @Test("a route that another reactor has stopped believes no refusal either")
  func stopped() {
    var suspicion = suspicion(accepted: 10)
    suspicion.stopped()
    #expect(suspicion.refused() == .unexplained)
    var unproven = TokenSuspicion()
    unproven.stopped()
    #expect(unproven.refused() == .misconfigured)
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

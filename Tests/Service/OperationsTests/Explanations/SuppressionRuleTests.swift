import PushRules
import TestRandomness
import Testing

@testable import Operations
@testable import PushStore

@Suite("The rule that an explanation names")
struct SuppressionRuleTests {
  /// Ages around every edge of a window of 60 s and a life of an hour.
  private static let ages: [Int64] = [
    -90_000_000, -1, 0, 1, 59_999_999, 60_000_000, 60_000_001, 3_599_999_999, 3_600_000_000, 3_600_000_001,
  ]

  @Test("is the one that decides, in 20,000 random situations")
  func property() {
    var random = SeededGenerator(seed: .random(in: 0...UInt64.max))
    for _ in 0..<20_000 {
      let known = Self.situation(&random)
      let decision = known.policy.decision(for: known.recipientSituation)
      #expect(Self.reason(of: decision) == SuppressionRule.first(for: known)?.reason, "\(known), \(random)")
    }
  }

  @Test("takes part comes first, but for what is deleted")
  func participant() {
    var known = HistoryEntry.Situation()
    known.isParticipant = false
    known.hasRead = true
    known.deviceCount = 1
    #expect(SuppressionRule.first(for: known)?.reason == "not_participant")
    known.isDeleted = true
    #expect(SuppressionRule.first(for: known)?.reason == "deleted")
  }

  @Test("what was asked ends with the rule that decided; without one all were asked")
  func asked() {
    var known = HistoryEntry.Situation()
    known.deviceCount = 1
    known.timeToLive = 1
    let usual = SuppressionRule.allCases.filter { ![.policy(.cancelled), .policy(.capped)].contains($0) }
    #expect(SuppressionRule.asked(of: known) == usual)
    known.isCapped = true
    #expect(SuppressionRule.asked(of: known).last == .policy(.capped))
    known.isMuted = true
    #expect(SuppressionRule.asked(of: known).last == .policy(.muted))
  }

  @Test("every reason of the rules has a clause of its own", arguments: DecisionReason.allCases)
  func clauses(reason: DecisionReason) {
    // Said of an event, never of a recipient.
    guard reason != .noRecipients else { return }
    let words = DecisionWords(kind: "message", known: HistoryEntry.Situation())
    #expect(words.clause(for: reason.rawValue) != nil)
    // Decided of messages that the rules let go.
    guard reason != .folding, reason != .folded else { return }
    #expect(SuppressionRule.allCases.contains { $0.reason == reason.rawValue })
  }

  private static func reason(of decision: PushDecision) -> String? {
    switch decision {
    case .send: nil
    case .hold(_, let reason), .skip(let reason): reason.rawValue
    }
  }

  private static func situation(_ random: inout SeededGenerator) -> HistoryEntry.Situation {
    func age() -> Int64 { ages.randomElement(using: &random) ?? 0 }
    func isSo(_ share: Int) -> Bool { Int.random(in: 0..<share, using: &random) == 0 }
    var known = HistoryEntry.Situation()
    known.messageAge = max(0, age())
    known.heldFor = isSo(2) ? 0 : max(0, age())
    known.isDeleted = isSo(12)
    known.hasRead = isSo(12)
    known.lastSeenAge = isSo(3) ? nil : age()
    known.sawAfterMessage = isSo(6)
    known.hasLeft = isSo(4)
    known.newestOtherReadAge = isSo(2) ? nil : age()
    known.isOptedOut = isSo(12)
    known.isMuted = isSo(12)
    known.wantsMentionsOnly = isSo(6)
    known.isMentioned = isSo(2)
    known.quietHoursRemaining = isSo(6) ? age() : nil
    known.quietHoursPolicy = isSo(2) ? "hold" : "drop"
    known.deviceCount = isSo(8) ? 0 : 2
    known.window = 60_000_000
    known.timeToLive = 3_600_000_000
    return known
  }
}

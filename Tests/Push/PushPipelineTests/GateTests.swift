import PushStore
import Testing

@testable import PushPipeline
@testable import PushRules

@Suite("The gate")
struct GateTests {
  private let gate = Gate(policy: SuppressionPolicy(window: .seconds(60), timeToLive: .seconds(3600)))

  private func settled(
    _ decision: OutcomeDecision, _ reason: String? = nil, due: Duration? = nil, accepted: [String] = []
  ) -> RecipientOutcome {
    RecipientOutcome(
      userID: PushFixtures.user, decision: decision, reason: reason, due: due,
      remaining: due == nil ? nil : .held, acceptedDevices: accepted)
  }

  @Test("somebody who is away and has a device is sent to")
  func send() {
    #expect(gate.outcome(for: PushFixtures.recipient()) == nil)
  }

  @Test(
    "each result of the rule is worded as an outcome",
    arguments: [
      (RecipientSituation(isDeleted: true), "deleted"),
      (RecipientSituation(hasRead: true), "already_read"),
      (RecipientSituation(messageAge: .seconds(3600) + .microseconds(1)), "expired"),
      (RecipientSituation(lastSeenAge: .seconds(1), sawAfterMessage: true), "user_viewing"),
      (RecipientSituation(isOptedOut: true), "opted_out"),
      (RecipientSituation(isMuted: true), "muted"),
      (RecipientSituation(wantsMentionsOnly: true), "not_mentioned"),
      (RecipientSituation(deviceCount: 0), "no_tokens"),
      (RecipientSituation(quietHoursRemaining: .seconds(9), quietHoursPolicy: .drop), "quiet_hours"),
    ])
  func skips(situation: RecipientSituation, reason: String) {
    #expect(gate.outcome(for: PushFixtures.recipient(situation: situation)) == settled(.skipped, reason))
  }

  @Test("a hold says how long, why, and that it remains")
  func holds() {
    let viewing = PushFixtures.recipient(situation: RecipientSituation(lastSeenAge: .seconds(20)))
    #expect(gate.outcome(for: viewing) == settled(.held, "user_viewing", due: .seconds(40)))
    let quiet = PushFixtures.recipient(situation: RecipientSituation(quietHoursRemaining: .seconds(9)))
    #expect(gate.outcome(for: quiet) == settled(.held, "quiet_hours", due: .seconds(9)))
  }

  @Test("the hold ends with the window", arguments: [(59_999_999, true), (60_000_000, false)])
  func windowEnd(microseconds: Int, isHeld: Bool) {
    let recipient = PushFixtures.recipient(
      situation: RecipientSituation(lastSeenAge: .microseconds(microseconds)))
    let held = settled(.held, "user_viewing", due: .microseconds(1))
    #expect(gate.outcome(for: recipient) == (isHeld ? held : nil))
  }

  @Test("somebody who no longer takes part is skipped, whatever else is known of them")
  func notParticipant() {
    let situations = [RecipientSituation(), RecipientSituation(hasRead: true), RecipientSituation(lastSeenAge: .zero)]
    for situation in situations {
      let recipient = PushFixtures.recipient(isParticipant: false, situation: situation)
      #expect(gate.outcome(for: recipient) == settled(.skipped, "not_participant"))
    }
  }

  @Test("a deleted message is the truer reason: without it nobody can be seen to take part")
  func deletedBeforeParticipant() {
    let recipient = PushFixtures.recipient(isParticipant: false, situation: RecipientSituation(isDeleted: true))
    #expect(gate.outcome(for: recipient) == settled(.skipped, "deleted"))
  }

  @Test(
    "what one device already shows stays sent, whatever is learnt later",
    arguments: [
      (true, RecipientSituation(isDeleted: true)), (true, RecipientSituation(hasRead: true)),
      (true, RecipientSituation(lastSeenAge: .zero)), (true, RecipientSituation(messageAge: .seconds(9999))),
      (false, RecipientSituation()),
    ])
  func partlyAccepted(isParticipant: Bool, situation: RecipientSituation) {
    let recipient = PushFixtures.recipient(
      isParticipant: isParticipant, situation: situation, accepted: ["cc03"])
    #expect(gate.outcome(for: recipient) == settled(.sent, accepted: ["cc03"]))
  }

  @Test("a retry with every device accepted is done; one with a device left is sent")
  func rest() {
    let done = PushFixtures.recipient(devices: [], accepted: ["cc03"])
    #expect(gate.outcome(for: done) == settled(.sent, accepted: ["cc03"]))
    #expect(gate.outcome(for: PushFixtures.recipient(accepted: ["cc03"])) == nil)
  }
}

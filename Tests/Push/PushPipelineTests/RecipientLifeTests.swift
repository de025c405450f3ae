import PushStore
import Testing

@testable import PushPipeline
@testable import PushRules

@Suite("A recipient's delivery near the end of the message's life")
struct RecipientLifeTests {
  @Test("a late answer leaves less of the message's life for another try", arguments: [(10, true), (11, false)])
  func lateLife(_ answered: Int, _ isTriedAgain: Bool) {
    let verdict = DeviceVerdict.postponed(reason: "TooManyRequests", minimum: .seconds(60))
    let delivery = PushFixtures.delivery(of: [verdict], situation: RecipientSituation(messageAge: .seconds(3530)))
    let outcome = delivery.outcome(PushFixtures.makePacing(elapsed: .seconds(answered)))
    #expect(outcome.decision == (isTriedAgain ? .held : .failed))
    #expect(outcome.reason == "TooManyRequests")
  }

  @Test(
    "what would be tried again after the message's life has failed now, with the reason that kept it",
    arguments: [
      // The message's age, the part of it that it was held, earlier retries; whether another try is worth it.
      (0, 0, 0, true), (3540, 0, 0, true), (3541, 0, 0, false), (3541, 1, 0, true), (3480, 0, 1, true),
      (3481, 0, 1, false), (2700, 0, 4, true), (2701, 0, 4, false), (0, 0, 5, true), (3600, 0, 0, false),
    ])
  func life(_ age: Int, _ held: Int, _ retries: Int, _ isTriedAgain: Bool) {
    let situation = RecipientSituation(messageAge: .seconds(age), heldFor: .seconds(held))
    let verdict = DeviceVerdict.postponed(reason: "TooManyRequests", minimum: .seconds(60))
    let outcome = PushFixtures.delivery(of: [verdict], retries: retries, situation: situation).outcome(
      PushFixtures.makePacing())
    #expect(outcome.decision == (isTriedAgain ? .held : .failed))
    #expect(outcome.remaining == (isTriedAgain ? .retryable : nil))
    #expect((outcome.due != nil) == isTriedAgain)
    #expect(outcome.reason == "TooManyRequests")
    #expect(outcome.retries == retries + (isTriedAgain ? 1 : 0))
  }

  @Test("a push that reached one device stays sent when the other can no longer be reached in time")
  func lifeOfSecond() {
    let verdicts = [DeviceVerdict.accepted, .postponed(reason: "TooManyRequests", minimum: .seconds(60))]
    let situation = RecipientSituation(messageAge: .seconds(3600))
    let outcome = PushFixtures.delivery(of: verdicts, situation: situation).outcome(PushFixtures.makePacing())
    #expect(outcome.decision == .sent)
    #expect(outcome.remaining == nil)
    #expect(outcome.reason == nil)
  }

  @Test("a push that steps back from its lane beyond its life has failed for the lane's reason")
  func laneLife() {
    let situation = RecipientSituation(messageAge: .milliseconds(3_599_501))
    let delivery = PushFixtures.delivery(
      of: [.waiting(lane: "a/production", reason: "Shutdown", .brief)], situation: situation)
    let outcome = delivery.outcome(PushFixtures.makePacing())
    #expect(outcome.decision == .failed)
    #expect(outcome.reason == "Shutdown")
    #expect(outcome.lane == nil)
  }

  @Test(
    "a device whose retry would come too late does not take the push of one that waits for its lane",
    arguments: [true, false])
  func lateRetryBesideLane(_ isFirst: Bool) {
    let late = DeviceVerdict.postponed(reason: "TooManyRequests", minimum: .seconds(60))
    let waiting = DeviceVerdict.waiting(lane: "a/production", reason: "Shutdown", .none)
    let delivery = PushFixtures.delivery(
      of: isFirst ? [late, waiting] : [waiting, late], retries: 4,
      situation: RecipientSituation(messageAge: .seconds(2701)))
    let outcome = delivery.outcome(PushFixtures.makePacing())
    #expect(outcome.decision == .held)
    #expect(outcome.remaining == .waiting)
    #expect(outcome.lane == "a/production")
    #expect(outcome.due == .zero)
    #expect(outcome.retries == 4)
  }

  @Test(
    "one that waits for two lanes comes back while its life lasts, and earlier when little is left of it",
    arguments: [
      // What is left of the life; the wait. A hundred attempts would make the wait five minutes.
      (3600, 300), (600, 300), (599, 299.5), (100, 50), (10, 5), (5, 5), (4.999, nil), (-1, nil),
    ] as [(Double, Double?)])
  func lifeOfTwoLanes(_ life: Double, _ wait: Double?) {
    let delivery = PushFixtures.delivery(
      of: ["a/production", "a/sandbox"].map { .waiting(lane: $0, reason: "Shutdown", .none) },
      situation: RecipientSituation(messageAge: .seconds(3600 - life)))
    let outcome = delivery.outcome(PushFixtures.makePacing(attempts: 100, draw: 1))
    #expect(outcome.decision == (wait == nil ? .failed : .held))
    #expect(outcome.remaining == (wait == nil ? nil : .retryable))
    #expect(outcome.due == wait.map { .seconds($0) })
    #expect(outcome.reason == "Shutdown")
  }
}

import APNS
import APNSCore
import PushRules
import PushStore
import Testing

@testable import PushPipeline

@Suite("A recipient's delivery")
struct RecipientDeliveryTests {
  /// What can become of the push to one device.
  private enum Kind: CaseIterable {
    case accepted, elsewhere, dead, refused, postponed, waiting, tried

    var verdict: DeviceVerdict {
      switch self {
      case .accepted: .accepted
      case .elsewhere: .acceptedElsewhere(.sandbox)
      case .dead: .dead(reason: "Unregistered", sinceMilliseconds: nil)
      case .refused: .refused(reason: "BadTopic")
      case .postponed: .postponed(reason: "TooManyRequests", minimum: .seconds(60))
      case .waiting: .waiting(lane: "a/production", reason: "apns_unreachable", .none)
      case .tried: .waiting(lane: "a/production", reason: "apns_answer_lost", .brief)
      }
    }

    var reason: String? {
      switch self {
      case .accepted, .elsewhere: nil
      case .dead: "Unregistered"
      case .refused: "BadTopic"
      case .postponed: "TooManyRequests"
      case .waiting: "apns_unreachable"
      case .tried: "apns_answer_lost"
      }
    }

    var isAccepted: Bool { self == .accepted || self == .elsewhere }
    var waitsForLane: Bool { self == .waiting || self == .tried }
    var isFinal: Bool { self != .postponed && !waitsForLane }
  }

  private let devices = [PushFixtures.phone, PushFixtures.tablet]

  private func delivery(
    of verdicts: [DeviceVerdict], accepted: [String] = [], retries: Int = 0,
    situation: RecipientSituation = RecipientSituation()
  ) -> RecipientDelivery {
    let recipient = PushFixtures.recipient(
      situation: situation, devices: Array(devices.prefix(verdicts.count)), accepted: accepted, retries: retries)
    var delivery = RecipientDelivery(of: recipient)
    for (device, verdict) in zip(devices, verdicts) {
      delivery.note(verdict, for: device, elapsed: 700, claimedAt: 5000)
    }
    return delivery
  }

  private func pacing(attempts: Int = 1, elapsed: Duration = .zero, draw: Double = 0) -> RetryPacing {
    RetryPacing(
      policy: RetryPolicy(), attempts: attempts, timeToLive: .seconds(3600), elapsed: elapsed, draw: draw)
  }

  @Test("two devices' verdicts fold into one outcome, in every combination")
  func combinations() {
    for first in Kind.allCases {
      for second in Kind.allCases {
        let delivery = delivery(of: [first.verdict, second.verdict])
        #expect(delivery.pending == 0)
        check(delivery, of: [first, second], "\(first), \(second)")
      }
    }
  }

  private func check(_ delivery: RecipientDelivery, of kinds: [Kind], _ comment: Comment) {
    let outcome = delivery.outcome(pacing())
    let accepted = zip(devices, kinds).filter { $0.1.isAccepted }.map(\.0.token)
    let isFinal = kinds.allSatisfy(\.isFinal)
    let isWaiting = !isFinal && !kinds.contains(.postponed)
    let due: Duration = isWaiting ? kinds.contains(.tried) ? .milliseconds(500) : .zero : .seconds(60)
    #expect(outcome.acceptedDevices == accepted, comment)
    #expect(outcome.due == (isFinal ? nil : due), comment)
    #expect(outcome.remaining == (isFinal ? nil : isWaiting ? .waiting : .retryable), comment)
    #expect(outcome.lane == (isWaiting ? "a/production" : nil), comment)
    #expect(outcome.retries == (isFinal || isWaiting ? 0 : 1), comment)
    #expect(outcome.decision == (!accepted.isEmpty ? .sent : isFinal ? .failed : .held), comment)
    let cause = kinds.first { isFinal ? $0.reason != nil : !$0.isFinal }
    #expect(outcome.reason == (accepted.isEmpty ? cause?.reason : nil), comment)
    #expect(outcome.acceptedMicroseconds == (accepted.isEmpty ? nil : 700), comment)
    #expect(delivery.deadTokens.count == kinds.count { $0 == .dead }, comment)
    #expect(delivery.learntEnvironments.count == kinds.count { $0 == .elsewhere }, comment)
  }

  @Test(
    "every wait runs from the answer, however late it came, and is drawn",
    arguments: [
      // What the answer asks for, when it came, and when the push is due at the earliest and at the latest: milliseconds
      // after the claim.
      (DeviceVerdict.postponed(reason: "TooManyRequests", minimum: .seconds(60)), 8000, 68_000, 98_000),
      (.postponed(reason: "ServiceUnavailable", minimum: .zero), 3000, 3500, 4000),
      (.postponed(reason: "ServiceUnavailable", minimum: .seconds(20)), 3000, 23_000, 33_000),
      (.waiting(lane: "a/production", reason: "apns_answer_lost", .brief), 9999, 10_499, 10_999),
      (.waiting(lane: "a/production", reason: "BadDeviceToken", .long), 2000, 2500, 3000),
      (.waiting(lane: "a/production", reason: "Shutdown", .none), 700, 700, 700),
    ])
  func lateAnswers(_ verdict: DeviceVerdict, _ answered: Int, _ earliest: Int, _ latest: Int) {
    let delivery = delivery(of: [verdict])
    for (draw, due) in [(0.0, earliest), (1.0, latest)] {
      let outcome = delivery.outcome(pacing(elapsed: .milliseconds(answered), draw: draw))
      #expect(outcome.waitsFromMicroseconds == Int64(answered) * 1000)
      #expect(outcome.due.map { $0 + .milliseconds(answered) } == .milliseconds(due))
    }
  }

  @Test("a late answer leaves less of the message's life for another try", arguments: [(10, true), (11, false)])
  func lateLife(_ answered: Int, _ isTriedAgain: Bool) {
    let verdict = DeviceVerdict.postponed(reason: "TooManyRequests", minimum: .seconds(60))
    let delivery = delivery(of: [verdict], situation: RecipientSituation(messageAge: .seconds(3530)))
    let outcome = delivery.outcome(pacing(elapsed: .seconds(answered)))
    #expect(outcome.decision == (isTriedAgain ? .held : .failed))
    #expect(outcome.reason == "TooManyRequests")
  }

  @Test(
    "a push steps back from a shut lane for some seconds, or minutes when it may be the wrong one to probe with",
    arguments: [
      (1, DeviceVerdict.StepBack.none, 0), (1, .brief, 1), (3, .brief, 4), (4, .brief, 5), (40, .brief, 5),
      (1, .long, 1), (4, .long, 8), (9, .long, 256), (10, .long, 300), (40, .long, 300), (40, .none, 0),
    ])
  func stepBack(_ attempts: Int, _ stepBack: DeviceVerdict.StepBack, _ seconds: Int) {
    let delivery = delivery(of: [.waiting(lane: "a/production", reason: nil, stepBack)])
    let outcome = delivery.outcome(pacing(attempts: attempts, draw: 1))
    #expect(outcome.due == .seconds(seconds))
    #expect(outcome.remaining == .waiting)
  }

  @Test("one that waits for two lanes waits for neither: it is tried again")
  func twoLanes() {
    let delivery = delivery(of: ["a/production", "a/sandbox"].map { .waiting(lane: $0, reason: "Shutdown", .none) })
    let outcome = delivery.outcome(pacing(attempts: 5, draw: 1))
    #expect(outcome.remaining == .retryable)
    #expect(outcome.lane == nil)
    #expect(outcome.due == .seconds(16))
    #expect(outcome.retries == 0)
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
    let outcome = delivery(of: [verdict], retries: retries, situation: situation).outcome(pacing())
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
    let outcome = delivery(of: verdicts, situation: situation).outcome(pacing())
    #expect(outcome.decision == .sent)
    #expect(outcome.remaining == nil)
    #expect(outcome.reason == nil)
  }

  @Test("a push that steps back from its lane beyond its life has failed for the lane's reason")
  func laneLife() {
    let situation = RecipientSituation(messageAge: .milliseconds(3_599_501))
    let delivery = delivery(of: [.waiting(lane: "a/production", reason: "Shutdown", .brief)], situation: situation)
    let outcome = delivery.outcome(pacing())
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
    let delivery = delivery(
      of: isFirst ? [late, waiting] : [waiting, late], retries: 4,
      situation: RecipientSituation(messageAge: .seconds(2701)))
    let outcome = delivery.outcome(pacing())
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
    let delivery = delivery(
      of: ["a/production", "a/sandbox"].map { .waiting(lane: $0, reason: "Shutdown", .none) },
      situation: RecipientSituation(messageAge: .seconds(3600 - life)))
    let outcome = delivery.outcome(pacing(attempts: 100, draw: 1))
    #expect(outcome.decision == (wait == nil ? .failed : .held))
    #expect(outcome.remaining == (wait == nil ? nil : .retryable))
    #expect(outcome.due == wait.map { .seconds($0) })
    #expect(outcome.reason == "Shutdown")
  }

  @Test("it is complete with its last device, not before")
  func pending() {
    var delivery = RecipientDelivery(of: PushFixtures.recipient(devices: devices))
    #expect(delivery.pending == 2)
    delivery.note(.accepted, for: devices[0], elapsed: 1, claimedAt: 0)
    #expect(delivery.pending == 1)
    delivery.note(.refused(reason: "deviceTokenMalformed"), for: devices[1], elapsed: 1, claimedAt: 0)
    #expect(delivery.pending == 0)
  }

  @Test(
    "a dead token is dated in microseconds: by APNs, but not after its registration was read, nor before 1970",
    arguments: [
      (nil, 1_700_000_000_000_000), (1_699_999_999_999, 1_699_999_999_999_000),
      (1_700_000_000_000, 1_700_000_000_000_000), (1_700_000_000_001, 1_700_000_000_000_000), (0, 0), (-1, 0),
      (.max, 1_700_000_000_000_000), (.min, 0),
    ] as [(Int64?, Int64)])
  func deadTokens(_ milliseconds: Int64?, _ since: Int64) {
    var delivery = RecipientDelivery(of: PushFixtures.recipient())
    let verdict = DeviceVerdict.dead(reason: "Unregistered", sinceMilliseconds: milliseconds)
    delivery.note(verdict, for: devices[0], elapsed: 1, claimedAt: 1_700_000_000_000_000)
    #expect(
      delivery.deadTokens == [DeadDeviceToken(token: "aa01", reason: "Unregistered", invalidSince: since)])
  }

  @Test("an environment is learnt together with the registration that was read, and when")
  func learnt() {
    let delivery = delivery(of: [.refused(reason: nil), .acceptedElsewhere(.production)])
    #expect(
      delivery.learntEnvironments == [
        LearntEnvironment(device: PushFixtures.tablet, environment: "production", readAt: 5000)
      ])
  }

  @Test("devices that have the push from an earlier attempt stay accepted")
  func earlierAttempts() {
    let outcome = delivery(of: [.refused(reason: "BadTopic")], accepted: ["cc03"]).outcome(pacing())
    #expect(outcome.decision == .sent)
    #expect(outcome.acceptedDevices == ["cc03"])
    #expect(outcome.reason == nil)
    #expect(outcome.acceptedMicroseconds == nil)
  }
}

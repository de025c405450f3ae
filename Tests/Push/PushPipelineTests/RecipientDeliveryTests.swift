import Channels
import Testing

@testable import PushPipeline
@testable import PushRules
@testable import PushStore

@Suite("A recipient's delivery")
struct RecipientDeliveryTests {
  /// What can become of the push to one device.
  private enum Kind: CaseIterable {
    case accepted, elsewhere, dead, refused, postponed, waiting, tried

    var verdict: DeviceVerdict {
      switch self {
      case .accepted: .accepted
      case .elsewhere: .acceptedElsewhere(environment: "sandbox")
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

  @Test("two devices' verdicts fold into one outcome, in every combination")
  func combinations() {
    for first in Kind.allCases {
      for second in Kind.allCases {
        let delivery = PushFixtures.delivery(of: [first.verdict, second.verdict])
        #expect(delivery.pending == 0)
        check(delivery, of: [first, second], "\(first), \(second)")
      }
    }
  }

  private func check(_ delivery: RecipientDelivery, of kinds: [Kind], _ comment: Comment) {
    let outcome = delivery.outcome(PushFixtures.makePacing())
    let accepted = zip(devices, kinds).filter { $0.1.isAccepted }.map(\.0.address)
    let isFinal = kinds.allSatisfy(\.isFinal)
    let isWaiting = !isFinal && !kinds.contains(.postponed)
    // A lane is asked again soon, whatever another device has to wait for.
    let isMixed = !isFinal && !isWaiting && kinds.contains(where: \.waitsForLane)
    let due: Duration =
      isMixed ? .milliseconds(500) : isWaiting ? kinds.contains(.tried) ? .milliseconds(500) : .zero : .seconds(60)
    #expect(outcome.acceptedDevices == accepted, comment)
    #expect(outcome.due == (isFinal ? nil : due), comment)
    #expect(outcome.remaining == (isFinal ? nil : isWaiting ? .waiting : .retryable), comment)
    #expect(outcome.lane == (isWaiting ? "a/production" : nil), comment)
    #expect(outcome.retries == (isFinal || isWaiting ? 0 : 1), comment)
    #expect(outcome.decision == (!accepted.isEmpty ? .sent : isFinal ? .failed : .held), comment)
    let cause = kinds.first { isFinal ? $0.reason != nil : !$0.isFinal }
    #expect(outcome.reason == (accepted.isEmpty ? cause?.reason : nil), comment)
    #expect(outcome.acceptedMicroseconds == (accepted.isEmpty ? nil : 700), comment)
    #expect(delivery.deadTargets.count == kinds.count { $0 == .dead }, comment)
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
    let delivery = PushFixtures.delivery(of: [verdict])
    for (draw, due) in [(0.0, earliest), (1.0, latest)] {
      let outcome = delivery.outcome(PushFixtures.makePacing(elapsed: .milliseconds(answered), draw: draw))
      #expect(outcome.waitsFromMicroseconds == Int64(answered) * 1000)
      #expect(outcome.due.map { $0 + .milliseconds(answered) } == .milliseconds(due))
    }
  }

  @Test("what is left of a message's life is counted from the answer as well")
  func life() {
    let situation = RecipientSituation(messageAge: .seconds(60), heldFor: .seconds(20))
    let pacing = PushFixtures.makePacing(elapsed: .seconds(8))
    #expect(pacing.life(of: situation) == pacing.timeToLive - .seconds(48))
  }

  @Test(
    "a push steps back from a shut lane for some seconds, or minutes when it may be the wrong one to probe with",
    arguments: [
      (1, DeviceVerdict.StepBack.none, 0), (1, .brief, 1), (3, .brief, 4), (4, .brief, 5), (40, .brief, 5),
      (1, .long, 1), (4, .long, 8), (9, .long, 256), (10, .long, 300), (40, .long, 300), (40, .none, 0),
    ])
  func stepBack(_ attempts: Int, _ stepBack: DeviceVerdict.StepBack, _ seconds: Int) {
    let delivery = PushFixtures.delivery(of: [.waiting(lane: "a/production", reason: nil, stepBack)])
    let outcome = delivery.outcome(PushFixtures.makePacing(attempts: attempts, draw: 1))
    #expect(outcome.due == .seconds(seconds))
    #expect(outcome.remaining == .waiting)
  }

  @Test("one that waits for two lanes waits for neither: it is tried again")
  func twoLanes() {
    let delivery = PushFixtures.delivery(
      of: ["a/production", "a/sandbox"].map { .waiting(lane: $0, reason: "Shutdown", .none) })
    let outcome = delivery.outcome(PushFixtures.makePacing(attempts: 5, draw: 1))
    #expect(outcome.remaining == .retryable)
    #expect(outcome.lane == nil)
    #expect(outcome.due == .seconds(16))
    #expect(outcome.retries == 0)
  }

  @Test("each device waits for its own time, and the first of them brings the recipient back")
  func ownWaits() {
    let delivery = PushFixtures.delivery(
      of: [.postponed(reason: "http_429", minimum: .seconds(15)), .postponed(reason: "http_503", minimum: .zero)])
    let outcome = delivery.outcome(PushFixtures.makePacing(elapsed: .seconds(2)))
    #expect(outcome.decision == .held && outcome.remaining == .retryable && outcome.retries == 1)
    #expect(outcome.due == .milliseconds(500))
    #expect(outcome.deviceWaits == ["aa01": DeviceWait(until: 5000 + 17_000_000, reason: "http_429")])
  }

  @Test("a device that may not be tried within the message's life fails alone")
  func tooLong() {
    for isFirst in [true, false] {
      let verdicts = [
        DeviceVerdict.postponed(reason: "too_long", minimum: .seconds(7200)),
        .postponed(reason: "http_503", minimum: .zero),
      ]
      let outcome = PushFixtures.delivery(of: isFirst ? verdicts : verdicts.reversed()).outcome(
        PushFixtures.makePacing())
      #expect(outcome.decision == .held && outcome.reason == "http_503" && outcome.due == .milliseconds(500))
      let mark = isFirst ? "aa01" : "BB02"
      #expect(outcome.deviceWaits == [mark: DeviceWait(until: 5000 + 7_200_000_000, reason: "too_long")])
    }
    let alone = PushFixtures.delivery(of: [.postponed(reason: "too_long", minimum: .seconds(7200))])
    #expect(alone.outcome(PushFixtures.makePacing()).decision == .failed)
  }

  @Test("a push that a device has refused is not sent to it again with the retry of another")
  func refusedOnce() {
    let refused = PushFixtures.delivery(of: [
      .refused(reason: "BadTopic"), .postponed(reason: "http_503", minimum: .zero),
    ])
    let outcome = refused.outcome(PushFixtures.makePacing())
    #expect(outcome.decision == .held && outcome.reason == "http_503" && outcome.due == .milliseconds(500))
    let wait = DeviceWait(until: .max, reason: "BadTopic")
    #expect(outcome.deviceWaits == ["aa01": wait])
    let again = PushFixtures.delivery(of: [.resting(wait), .postponed(reason: "http_503", minimum: .zero)], retries: 1)
    #expect(again.outcome(PushFixtures.makePacing(elapsed: .seconds(1))).deviceWaits == ["aa01": wait])
  }

  @Test("a device whose wait goes on keeps its time, which no retry of another makes longer")
  func resting() {
    let wait = DeviceWait(until: 5000 + 60_000_000, reason: "http_429")
    let delivery = PushFixtures.delivery(
      of: [.resting(wait), .postponed(reason: "http_503", minimum: .zero)], retries: 3)
    let outcome = delivery.outcome(PushFixtures.makePacing(elapsed: .seconds(1)))
    #expect(outcome.due == .seconds(4) && outcome.retries == 4)
    #expect(outcome.deviceWaits == ["aa01": wait])
    let last = PushFixtures.delivery(of: [.resting(wait), .accepted], retries: 3)
    let rest = last.outcome(PushFixtures.makePacing(elapsed: .seconds(1)))
    #expect(rest.decision == .sent && rest.due == .seconds(59) && rest.retries == 3 && rest.deviceWaits.isEmpty)
  }

  @Test("it is complete with its last device, not before")
  func pending() {
    var delivery = RecipientDelivery(of: PushFixtures.recipient(devices: devices))
    #expect(delivery.pending == 2)
    delivery.add(.accepted, for: devices[0], elapsed: 1, claimedAt: 0)
    #expect(delivery.pending == 1)
    delivery.add(.refused(reason: "deviceTokenMalformed"), for: devices[1], elapsed: 1, claimedAt: 0)
    #expect(delivery.pending == 0)
  }

  @Test(
    "a dead token is dated in microseconds: by APNs, but not after its registration was read, nor before 1970",
    arguments: [
      (nil, 1_700_000_000_000_000), (1_699_999_999_999, 1_699_999_999_999_000),
      (1_700_000_000_000, 1_700_000_000_000_000), (1_700_000_000_001, 1_700_000_000_000_000), (0, 0), (-1, 0),
      (.max, 1_700_000_000_000_000), (.min, 0),
    ] as [(Int64?, Int64)])
  func deadTargets(_ milliseconds: Int64?, _ since: Int64) {
    var delivery = RecipientDelivery(of: PushFixtures.recipient())
    let verdict = DeviceVerdict.dead(reason: "Unregistered", sinceMilliseconds: milliseconds)
    delivery.add(verdict, for: devices[0], elapsed: 1, claimedAt: 1_700_000_000_000_000)
    #expect(
      delivery.deadTargets == [DeadTarget(address: "aa01", reason: "Unregistered", invalidSince: since)])
  }

  @Test("an environment is learnt together with the registration that was read, and when")
  func learnt() {
    let delivery = PushFixtures.delivery(of: [.refused(reason: nil), .acceptedElsewhere(environment: "production")])
    #expect(
      delivery.learntEnvironments == [
        LearntEnvironment(target: PushFixtures.tablet, environment: "production", readAt: 5000)
      ])
  }

  @Test("devices that have the push from an earlier attempt stay accepted")
  func earlierAttempts() {
    let outcome = PushFixtures.delivery(of: [.refused(reason: "BadTopic")], accepted: ["cc03"]).outcome(
      PushFixtures.makePacing())
    #expect(outcome.decision == .sent)
    #expect(outcome.acceptedDevices == ["cc03"])
    #expect(outcome.reason == nil)
    #expect(outcome.acceptedMicroseconds == nil)
  }
}

@Suite("The retry policy")
struct RetryPolicyTests {
  private let policy = RetryPolicy()

  @Test(
    "the wait doubles from a second to a quarter of an hour; the draw takes its upper half",
    arguments: [
      (0, 1), (1, 2), (2, 4), (8, 256), (9, 512), (10, 900), (30, 900), (31, 900), (1000, 900), (Int.max, 900),
    ])
  func doubling(retries: Int, seconds: Int) {
    let whole = Duration.seconds(seconds)
    #expect(policy.wait(afterRetries: retries, minimum: .zero, draw: 0) == whole / 2)
    let longest = policy.wait(afterRetries: retries, minimum: .zero, draw: 1.0.nextDown)
    #expect(longest <= whole)
    #expect(longest > whole * 0.999)
  }

  @Test(
    "what APNs asks for doubles as well, and the draw adds up to a half",
    arguments: [(0, 60), (1, 120), (2, 240), (3, 480), (4, 900), (5, 900)])
  func asked(retries: Int, seconds: Int) {
    let whole = Duration.seconds(seconds)
    #expect(policy.wait(afterRetries: retries, minimum: .seconds(60), draw: 0) == whole)
    let longest = policy.wait(afterRetries: retries, minimum: .seconds(60), draw: 1.0.nextDown)
    #expect(longest <= whole * 1.5)
    #expect(longest > whole * 1.499)
  }

  @Test("retries below zero count as none", arguments: [-1, Int.min])
  func tooFew(retries: Int) {
    #expect(policy.wait(afterRetries: retries, minimum: .zero, draw: 0) == .milliseconds(500))
  }

  @Test(
    "what APNs asks for is never undercut, even above the ceiling",
    arguments: [(1, 1000), (1000, 1000), (1001, 1001), (900_001, 900_001)])
  func minimum(asked: Int, milliseconds: Int) {
    let wait = policy.wait(afterRetries: 0, minimum: .milliseconds(asked), draw: 0)
    #expect(wait == .milliseconds(milliseconds))
  }

  @Test("a base above the ceiling is cut to it")
  func ceiling() {
    var policy = RetryPolicy()
    policy.base = .seconds(1200)
    #expect(policy.wait(afterRetries: 0, minimum: .zero, draw: 0) == .seconds(450))
  }
}

@Suite("The random part of waits")
struct JitterTests {
  @Test("is spread evenly over what it is drawn from")
  func even() {
    var jitter = Jitter()
    var tenths = [Int](repeating: 0, count: 10)
    for _ in 0..<10_000 { tenths[Int(jitter.draw() * 10)] += 1 }
    // Ten standard deviations to either side.
    #expect(tenths.allSatisfy { (700...1300).contains($0) })
  }

  @Test("differs between two of a process")
  func differs() {
    var (one, other) = (Jitter(), Jitter())
    #expect((0..<4).map { _ in one.next() } != (0..<4).map { _ in other.next() })
  }
}

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

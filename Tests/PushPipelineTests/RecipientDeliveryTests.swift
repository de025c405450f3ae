import APNS
import APNSCore
import PushStore
import Testing

@testable import PushPipeline

@Suite("A recipient's delivery")
struct RecipientDeliveryTests {
  /// What one device's answer means: the same words for all answers of one kind.
  private enum Kind: CaseIterable {
    case accepted, dead, refused, limited, badKey, lost, busy

    var attempt: PushAttempt {
      switch self {
      case .accepted: .accepted
      case .dead: .unregistered
      case .refused: .refused
      case .limited: .answered(429, "TooManyRequests")
      case .badKey: .badKey
      case .lost: .answerLost
      case .busy: .busy
      }
    }

    /// What APNs asks for this push; nil when the answer is final or not about the push.
    var minimum: Duration? { self == .limited ? .seconds(60) : nil }

    /// Whether the next push would fail alike.
    var isLaneFault: Bool { [.badKey, .lost, .busy].contains(self) }

    var isFinal: Bool { minimum == nil && !isLaneFault }

    var reason: String? { attempt.reason }
  }

  private let devices = [PushFixtures.phone, PushFixtures.tablet]

  private func delivery(
    of attempts: [PushAttempt], accepted: [String] = [], lanes: [String] = ["production", "production"]
  ) -> RecipientDelivery {
    var delivery = RecipientDelivery(of: PushFixtures.recipient(devices: devices, accepted: accepted))
    for (number, attempt) in attempts.enumerated() {
      delivery.note(attempt, for: devices[number], lane: lanes[number], elapsed: 700, claimedAt: 5000)
    }
    return delivery
  }

  @Test("two devices' answers fold into one outcome, in every combination")
  func combinations() {
    for first in Kind.allCases {
      for second in Kind.allCases {
        let delivery = delivery(of: [first.attempt, second.attempt])
        #expect(delivery.pending == 0)
        check(delivery, of: [first, second], "\(first), \(second)")
      }
    }
  }

  private func check(_ delivery: RecipientDelivery, of kinds: [Kind], _ comment: Comment) {
    var asked: Duration?
    let outcome = delivery.outcome { minimum in
      asked = minimum
      return minimum + .seconds(1)
    }
    let accepted = zip(devices, kinds).filter { $0.1 == .accepted }.map(\.0.token)
    let minimum = kinds.compactMap(\.minimum).max()
    let isWaiting = minimum == nil && kinds.contains(where: \.isLaneFault)
    let isFinal = kinds.allSatisfy(\.isFinal)
    #expect(outcome.acceptedDevices == accepted, comment)
    #expect(asked == (isWaiting ? .zero : minimum), comment)
    #expect(outcome.due == (isFinal ? nil : (minimum ?? .zero) + .seconds(1)), comment)
    #expect(outcome.remaining == (isFinal ? nil : isWaiting ? .waiting : .retryable), comment)
    #expect(outcome.lane == (isWaiting ? "production" : nil), comment)
    #expect(outcome.decision == (!accepted.isEmpty ? .sent : isFinal ? .failed : .held), comment)
    let cause = kinds.first { isFinal || !$0.isFinal }
    #expect(outcome.reason == (accepted.isEmpty ? cause?.reason : nil), comment)
    #expect(outcome.acceptedMicroseconds == (accepted.isEmpty ? nil : 700), comment)
    #expect(delivery.deadTokens.count == kinds.count { $0 == .dead }, comment)
  }

  @Test("after a fault of its lane a push steps back for some seconds at the most")
  func laneFault() {
    let outcome = delivery(of: [.answerLost, .answerLost]).outcome { _ in .seconds(300) }
    #expect(outcome.due == .seconds(5))
  }

  @Test("a push that was never tried waits for its lane and is due as soon as that is back")
  func waiting() {
    var delivery = RecipientDelivery(of: PushFixtures.recipient(devices: devices))
    for _ in devices { delivery.noteWaiting(for: "sandbox", "apns_unreachable") }
    let outcome = delivery.outcome { _ in .seconds(300) }
    #expect(outcome.decision == .held)
    #expect(outcome.reason == "apns_unreachable")
    #expect(outcome.remaining == .waiting)
    #expect(outcome.lane == "sandbox")
    #expect(outcome.due == .zero)
  }

  @Test("one that waits for two lanes waits for neither: it is tried again")
  func twoLanes() {
    let delivery = delivery(of: [.answerLost, .answerLost], lanes: ["production", "sandbox"])
    let outcome = delivery.outcome { $0 + .seconds(1) }
    #expect(outcome.remaining == .retryable)
    #expect(outcome.lane == nil)
    #expect(outcome.due == .seconds(6))
  }

  @Test("it is complete with its last device, not before")
  func pending() {
    var delivery = RecipientDelivery(of: PushFixtures.recipient(devices: devices))
    #expect(delivery.pending == 2)
    delivery.note(.accepted, for: devices[0], lane: "production", elapsed: 1, claimedAt: 0)
    #expect(delivery.pending == 1)
    delivery.noteUnsendable("deviceTokenMalformed")
    #expect(delivery.pending == 0)
  }

  @Test("a dead token is dated by APNs in microseconds, or by the claim when APNs names no time")
  func deadTokens() {
    let undated = PushAttempt.answered(410, "Unregistered")
    let delivery = delivery(of: [.unregistered, undated])
    #expect(
      delivery.deadTokens == [
        DeadDeviceToken(token: "aa01", reason: "Unregistered", invalidSince: 1_700_000_000_123_000),
        DeadDeviceToken(token: "BB02", reason: "Unregistered", invalidSince: 5000),
      ])
  }

  @Test("wrong credentials hold the push and never cost a token", arguments: [401, 403, 407])
  func credentials(status: Int) {
    let delivery = delivery(of: [.answered(status, nil), .answered(status, "InvalidProviderToken")])
    let outcome = delivery.outcome { $0 }
    #expect(outcome.decision == .held)
    #expect(outcome.remaining == .waiting)
    #expect(outcome.reason == "http_\(status)")
    #expect(delivery.deadTokens.isEmpty)
  }

  @Test("devices that have the push from an earlier attempt stay accepted")
  func earlierAttempts() {
    let outcome = delivery(of: [.refused, .refused], accepted: ["cc03"]).outcome { $0 }
    #expect(outcome.decision == .sent)
    #expect(outcome.acceptedDevices == ["cc03"])
    #expect(outcome.reason == nil)
    #expect(outcome.acceptedMicroseconds == nil)
  }

  @Test("a push that could not be composed fails with that reason")
  func unsendable() {
    var delivery = RecipientDelivery(of: PushFixtures.recipient())
    delivery.noteUnsendable("deviceTokenMalformed")
    let outcome = delivery.outcome { $0 }
    #expect(outcome.decision == .failed)
    #expect(outcome.reason == "deviceTokenMalformed")
    #expect(outcome.due == nil)
  }
}

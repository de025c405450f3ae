import Channels
import FoundationEssentials

@testable import PushPipeline
@testable import PushRules
@testable import PushStore

/// Values as a claim returns them, where a test cares about a part of them only.
enum PushFixtures {
  static let user = makeID(1)
  static let conversation = makeID(2)
  static let messageID = makeID(3)
  static let route = route(of: "com.example.app", .production)
  static let phone = PushTarget(address: "aa01")
  static let tablet = PushTarget(address: "BB02", environment: "sandbox")

  /// A route whose app is known to be named well.
  static func route(of app: String, _ environment: APNSEnvironment) -> PushRoute {
    guard let app = try? BundleIdentifier(app) else { preconditionFailure("\(app) is no bundle identifier") }
    return PushRoute(app: app, environment: environment)
  }

  /// An id that ends in this number, with letters in it.
  static func makeID(_ number: UInt8) -> HostID {
    HostID(UUID(uuid: (0xAB, 0xCD, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, number)))
  }

  static func recipient(
    _ id: HostID = user, isParticipant: Bool = true, situation: RecipientSituation = RecipientSituation(),
    badge: Int = 1, devices: [PushTarget] = [phone], accepted: [String] = [], retries: Int = 0
  ) -> PushRecipient {
    var situation = situation
    situation.isParticipant = isParticipant
    return PushRecipient(
      userID: id, situation: situation, badge: badge, targets: devices,
      acceptedDevices: accepted, retries: retries)
  }

  /// The waits of a push's first attempt: half of what doubling gives.
  static let pacing = RetryPacing(
    policy: RetryPolicy(), attempts: 1, timeToLive: .seconds(3600), elapsed: .zero, draw: 0)

  static func event(
    sender: String? = "Ann", text: String = "Hello", isDeleted: Bool = false, attempts: Int = 1,
    subject: HostID = messageID, recipients: [PushRecipient] = [recipient()]
  ) -> PushEvent {
    PushEvent(
      subject: .message(subject), origin: .inbox, attempts: attempts, enqueuedAt: 1_700_000_000_999_999,
      claimedAt: 1_700_000_001_000_000,
      content: isDeleted ? nil : MessagePush(conversationID: conversation, senderName: sender, text: text),
      datedAt: 1_700_000_000_999_999, recipients: recipients)
  }

  static func readSync(_ sync: ReadSyncPush, badge: Int = 1) -> PushEvent {
    event(sync, kind: ReadSyncPush.name, subject: makeID(4), recipients: [recipient(badge: badge)])
  }

  static func event(
    _ content: any PushContent, kind: String, subject: HostID, recipients: [PushRecipient] = [recipient()]
  ) -> PushEvent {
    PushEvent(
      subject: PushSubject(id: subject, kind: kind), origin: .inbox, attempts: 1, enqueuedAt: 1_700_000_000_999_999,
      claimedAt: 1_700_000_001_000_000, content: content, datedAt: 1_700_000_000_999_999, recipients: recipients)
  }

  static func request(
    _ push: Push, of event: PushEvent, for device: PushTarget, to recipient: PushRecipient? = nil
  ) throws -> APNSRequest {
    let addressee = event.addressee(
      of: push, device, of: recipient ?? event.recipients[0], timeToLive: .seconds(3600))
    return try APNSRequest(push, to: addressee, of: route.app)
  }

  /// The push of an event for one device, as the pipeline makes it.
  static func request(
    _ event: PushEvent, for device: PushTarget = phone, to recipient: PushRecipient? = nil
  ) throws -> APNSRequest? {
    guard let push = try event.content?.push(about: event.subject) else { return nil }
    return try request(push, of: event, for: device, to: recipient)
  }
}

extension APNSOutcome {
  static let accepted = APNSOutcome.answered(APNSAnswer(status: 200))
  static let refused = answered(400, "BadDeviceToken")
  static let unregistered = APNSOutcome.answered(
    APNSAnswer(status: 410, reason: "Unregistered", timestampMilliseconds: 1_700_000_000_123))
  static let otherApps = answered(400, "DeviceTokenNotForTopic")
  static let limited = answered(429, "TooManyRequests")
  static let broken = answered(500, "InternalServerError")
  static let badKey = answered(403, "InvalidProviderToken")
  static let busy = answered(503, "ServiceUnavailable")
  static let unreachable = APNSOutcome.notProcessed(cause: "test")
  static let answerLost = APNSOutcome.unknown(cause: "test")

  static func answered(_ status: Int, _ reason: APNSReason?) -> APNSOutcome {
    .answered(APNSAnswer(status: status, reason: reason))
  }
}

extension CircuitBreaker.Configuration {
  /// Opens after the first fault, and probes often.
  static var quick: Self {
    var configuration = Self()
    configuration.faultsMin = 1
    configuration.silence = .zero
    configuration.outage = .quick
    configuration.refusal = .quick
    return configuration
  }
}

extension CircuitBreaker.ProbeWait {
  static let quick = Self(shortest: .milliseconds(5), longest: .milliseconds(20))
}

extension PushFixtures {
  /// A delivery whose devices' pushes have ended like this.
  static func delivery(
    of verdicts: [DeviceVerdict], accepted: [String] = [], retries: Int = 0,
    situation: RecipientSituation = RecipientSituation()
  ) -> RecipientDelivery {
    let recipient = recipient(
      situation: situation, devices: Array([phone, tablet].prefix(verdicts.count)), accepted: accepted, retries: retries
    )
    var delivery = RecipientDelivery(of: recipient)
    for (device, verdict) in zip(recipient.targets, verdicts) {
      delivery.add(verdict, for: device, elapsed: 700, claimedAt: 5000)
    }
    return delivery
  }

  static func makePacing(attempts: Int = 1, elapsed: Duration = .zero, draw: Double = 0) -> RetryPacing {
    RetryPacing(
      policy: RetryPolicy(), attempts: attempts, timeToLive: .seconds(3600), elapsed: elapsed, draw: draw)
  }
}

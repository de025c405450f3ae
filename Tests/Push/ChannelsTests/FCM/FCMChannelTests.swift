import PushRules
import Testing

@testable import Channels

@Suite("FCM as a channel")
struct FCMChannelTests {
  enum Kind {
    case ok, warning, failure
  }

  @Test(
    "FCM's answer about the token shows that the account works, and each fault has its remedy",
    arguments: [
      (
        DeliveryAttempt(.dropToken(invalidSinceMilliseconds: nil), status: 404, reason: "UNREGISTERED"),
        .ok
      ),
      (DeliveryAttempt(.suspectToken, status: 403, reason: "SENDER_ID_MISMATCH"), .ok),
      (DeliveryAttempt(.accepted, status: 200), .ok),
      (
        DeliveryAttempt(.fixCredentials, status: 403, reason: "SERVICE_DISABLED", fault: .configuration), .failure
      ),
      (DeliveryAttempt(.retryLater(minimumWait: .zero), reason: "unreachable", fault: .connection), .failure),
      (
        DeliveryAttempt(.retryLater(minimumWait: .zero), status: 503, reason: "UNAVAILABLE", fault: .service), .warning
      ),
      (DeliveryAttempt(.fixRequest, status: 400, reason: "INVALID_ARGUMENT"), .warning),
    ] as [(DeliveryAttempt, Kind)])
  func android(_ attempt: DeliveryAttempt, _ kind: Kind) {
    let found: Kind =
      switch FCMChannel.finding(attempt, project: "demo") {
      case .ok: .ok
      case .warning: .warning
      case .failure: .failure
      }
    #expect(found == kind)
  }
}

import Channels
import Testing

@testable import PushPipeline
@testable import PushRules

@Suite("What an attempt says")
struct PushAttemptTests {
  private static let tooMany = PushDisposition.retryLater(minimumWait: .seconds(60))
  private static let fault = PushDisposition.retryLater(minimumWait: .seconds(900))

  @Test(
    "each kind of answer concerns the push, its device, its lane or its lane's settings",
    arguments: [
      (PushAttempt.accepted, PushDisposition.accepted, DeliveryFault?.none), (.answered(201, nil), .accepted, nil),
      (.unregistered, .dropToken(invalidSinceMilliseconds: 1_700_000_000_123), nil),
      (.answered(410, nil), .dropToken(invalidSinceMilliseconds: nil), nil),
      (.refused, .suspectToken, nil), (.otherApps, .suspectToken, nil), (.answered(413, "BadDeviceToken"), .never, nil),
      (.answered(404, "BadDeviceToken"), .fixRequest, nil), (.answered(413, "PayloadTooLarge"), .never, nil),
      (.answered(400, "BadTopic"), .fixRequest, nil), (.answered(403, "MissingProviderToken"), .fixRequest, nil),
      (.limited, tooMany, nil), (.answered(429, nil), tooMany, nil),
      (.answered(429, "TooManyProviderTokenUpdates"), tooMany, .throttle),
      (.badKey, .fixCredentials, .configuration),
      (.answered(403, "ExpiredProviderToken"), .refreshProviderToken, .configuration),
      (.answered(400, "TopicDisallowed"), .fixCredentials, .configuration),
      (.answered(301, nil), .fixCredentials, .configuration),
      (.broken, fault, .service), (.busy, fault, .service), (.answered(0, nil), fault, .service),
      (.answered(503, "Shutdown"), .reconnect, .connection), (.answered(400, "IdleTimeout"), .reconnect, .connection),
      (.unreachable, .retryLater(minimumWait: .zero), .connection),
      (.answerLost, .retryLater(minimumWait: .zero), .connection),
    ] as [(PushAttempt, PushDisposition, DeliveryFault?)])
  func meanings(_ attempt: PushAttempt, _ disposition: PushDisposition, _ cause: DeliveryFault?) {
    #expect(attempt.disposition == disposition)
    #expect(DeliveryAttempt(attempt).disposition == disposition)
    #expect(DeliveryAttempt(attempt).fault == cause)
  }

  @Test("only a token that is unknown where it was asked for may be known elsewhere")
  func elsewhere() {
    #expect(DeliveryAttempt(PushAttempt.refused).otherEnvironment == .mayKnowTarget)
    for attempt in [PushAttempt.otherApps, .unregistered, .badKey, .accepted, .answered(410, "BadDeviceToken")] {
      #expect(DeliveryAttempt(attempt).otherEnvironment != .mayKnowTarget, "\(attempt)")
    }
  }

  private static func refusesEnvironment(_ attempt: PushAttempt) -> Bool {
    DeliveryAttempt(attempt).otherEnvironment == .ownsCredential
  }

  @Test("only three refusals of a credential say that it is not for the environment")
  func environment() {
    for reason in ["BadEnvironmentKeyInToken", "BadEnvironmentKeyIdInToken", "BadCertificateEnvironment"] {
      #expect(Self.refusesEnvironment(.answered(403, PushReason(rawValue: reason))))
      #expect(Self.refusesEnvironment(.refused(PushReason(rawValue: reason))))
      #expect(!Self.refusesEnvironment(.answered(200, PushReason(rawValue: reason))))
    }
    for attempt in [PushAttempt.badKey, .answered(403, nil), .answered(407, nil), .refused, .refused("BadCertificate")]
    {
      #expect(!Self.refusesEnvironment(attempt), "\(attempt)")
    }
  }

  @Test(
    "the ledger gets a reason word for word, but cut, and with marks for what cannot be printed",
    arguments: [
      ("SomeFutureReason", "SomeFutureReason"), ("two words, 3.", "two words, 3."), ("", "http_400"),
      ("a\u{0}b\nc", "a?b?c"),
      ("\u{1B}[31m", "?[31m"), ("ü\u{202E}", "??"), ("~\u{7F} ", "~? "), (xs(64), xs(64)), (xs(65), xs(64)),
    ])
  func reasons(_ reason: String, _ kept: String) {
    #expect(DeliveryAttempt(PushAttempt.answered(400, PushReason(rawValue: reason))).ledgerReason == kept)
  }

  private static func xs(_ count: Int) -> String { String(repeating: "x", count: count) }
}

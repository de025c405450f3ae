import APNS
import APNSCore
import Testing

@testable import PushPipeline

@Suite("What an attempt says")
struct PushFindingTests {
  @Test(
    "each kind of answer concerns the push, its device, its lane or its lane's settings",
    arguments: [
      (PushAttempt.accepted, PushFinding.accepted), (.answered(201, nil), .accepted),
      (.unregistered, .dead(sinceMilliseconds: 1_700_000_000_123)),
      (.answered(410, nil), .dead(sinceMilliseconds: nil)),
      (.refused, .suspect), (.otherApps, .suspect), (.answered(413, "BadDeviceToken"), .refused),
      (.answered(404, "BadDeviceToken"), .refused), (.answered(413, "PayloadTooLarge"), .refused),
      (.answered(400, "BadTopic"), .refused), (.answered(403, "MissingProviderToken"), .refused),
      (.limited, .throttled(minimum: .seconds(60))), (.answered(429, nil), .throttled(minimum: .seconds(60))),
      (.answered(429, "TooManyProviderTokenUpdates"), .fault(.throttle)), (.badKey, .fault(.configuration)),
      (.answered(403, "ExpiredProviderToken"), .fault(.configuration)),
      (.answered(400, "TopicDisallowed"), .fault(.configuration)), (.answered(301, nil), .fault(.configuration)),
      (.broken, .fault(.service)), (.busy, .fault(.service)), (.answered(0, nil), .fault(.service)),
      (.answered(503, "Shutdown"), .fault(.connection)), (.answered(400, "IdleTimeout"), .fault(.connection)),
      (.unreachable, .fault(.connection)), (.answerLost, .fault(.connection)),
    ] as [(PushAttempt, PushFinding)])
  func findings(_ attempt: PushAttempt, _ finding: PushFinding) {
    #expect(attempt.finding == finding)
  }

  @Test("only a token that is unknown where it was asked for may be known elsewhere")
  func elsewhere() {
    #expect(PushAttempt.refused.mayBeElsewhere)
    for attempt in [PushAttempt.otherApps, .unregistered, .badKey, .accepted, .answered(410, "BadDeviceToken")] {
      #expect(!attempt.mayBeElsewhere, "\(attempt)")
    }
  }

  @Test("only three refusals of a credential say that it is not for the environment")
  func environment() {
    for reason in ["BadEnvironmentKeyInToken", "BadEnvironmentKeyIdInToken", "BadCertificateEnvironment"] {
      #expect(PushAttempt.answered(403, PushReason(rawValue: reason)).refusesEnvironment)
      #expect(PushAttempt.refused(PushReason(rawValue: reason)).refusesEnvironment)
      #expect(!PushAttempt.answered(200, PushReason(rawValue: reason)).refusesEnvironment)
    }
    for attempt in [PushAttempt.badKey, .answered(403, nil), .answered(407, nil), .refused, .refused("BadCertificate")]
    {
      #expect(!attempt.refusesEnvironment, "\(attempt)")
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
    #expect(PushAttempt.answered(400, PushReason(rawValue: reason)).ledgerReason == kept)
  }

  private static func xs(_ count: Int) -> String { String(repeating: "x", count: count) }

  @Test("every reason that Apple documents is shorter than what is kept")
  func longest() {
    #expect("TooManyProviderTokenUpdates".count < PushAttempt.ledgerReasonMax)
  }

  @Test("an accepted push has no reason, one without a word of APNs has its status or the connection's end")
  func withoutReason() {
    #expect(PushAttempt.accepted.ledgerReason == nil)
    #expect(PushAttempt.answered(418, nil).ledgerReason == "http_418")
    #expect(PushAttempt.answerLost.ledgerReason == "apns_answer_lost")
  }
}

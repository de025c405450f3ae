import APNSCore
import Testing

@testable import APNS

@Suite("An attempt")
struct PushAttemptTests {
  @Test(
    "its reason is APNs' word, the status without one, or what the connection did",
    arguments: [
      (PushAttempt.answered(PushAnswer(status: 200)), nil),
      (.answered(PushAnswer(status: 410, reason: "Unregistered")), "Unregistered"),
      (.answered(PushAnswer(status: 502)), "http_502"),
      (.failed(.notProcessed(cause: "x")), "apns_unreachable"),
      (.failed(.unknown(cause: "x")), "apns_answer_lost"),
      (.refused("BadCertificate"), "BadCertificate"),
    ])
  func reasons(attempt: PushAttempt, reason: String?) {
    #expect(attempt.reason == reason)
  }

  @Test("a transport failure is retried, whatever is known of it")
  func dispositions() {
    #expect(PushAttempt.failed(.unknown(cause: "x")).disposition == .retryLater(minimumWait: .zero))
    #expect(PushAttempt.failed(.notProcessed(cause: "x")).disposition == .retryLater(minimumWait: .zero))
    #expect(PushAttempt.answered(PushAnswer(status: 200)).disposition == .accepted)
    #expect(PushAttempt.refused("BadCertificate").disposition == .fixCredentials)
  }

  @Test(
    "a lane is proved by what APNs takes, and by what it refuses for the push's or the device's sake",
    arguments: [
      (200, nil, true), (410, "Unregistered", true), (400, "BadDeviceToken", true), (413, "PayloadTooLarge", true),
      (400, "BadTopic", true), (429, "TooManyRequests", true), (429, "TooManyProviderTokenUpdates", false),
      (403, "InvalidProviderToken", false), (403, "ExpiredProviderToken", false), (503, "Shutdown", false),
      (500, "InternalServerError", false), (502, nil, false),
    ] as [(Int, PushReason?, Bool)])
  func proofs(status: Int, reason: PushReason?, provesLane: Bool) {
    #expect(PushAttempt.answered(PushAnswer(status: status, reason: reason)).provesLane == provesLane)
  }

  @Test("a lane is not proved by a push that was not answered")
  func noProofs() {
    #expect(!PushAttempt.failed(.unknown(cause: "x")).provesLane)
    #expect(!PushAttempt.failed(.notProcessed(cause: "x")).provesLane)
    #expect(!PushAttempt.refused("BadCertificate").provesLane)
  }
}

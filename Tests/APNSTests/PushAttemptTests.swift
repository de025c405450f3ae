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
    ])
  func reasons(attempt: PushAttempt, reason: String?) {
    #expect(attempt.reason == reason)
  }

  @Test("a transport failure is retried, whatever is known of it")
  func dispositions() {
    #expect(PushAttempt.failed(.unknown(cause: "x")).disposition == .retryLater(minimumWait: .zero))
    #expect(PushAttempt.failed(.notProcessed(cause: "x")).disposition == .retryLater(minimumWait: .zero))
    #expect(PushAttempt.answered(PushAnswer(status: 200)).disposition == .accepted)
  }
}

import PushRules
import Testing

@testable import Operations

@Suite("What FCM's answer to the doctor means")
struct OtherChannelJudgementTests {
  @Test(
    "an answer about the token shows that the account works, and each fault has its remedy",
    arguments: [
      (
        DeliveryAttempt(.dropToken(invalidSinceMilliseconds: nil), status: 404, reason: "UNREGISTERED"),
        CheckFinding.Verdict.ok, false
      ),
      (DeliveryAttempt(.suspectToken, status: 403, reason: "SENDER_ID_MISMATCH"), .ok, false),
      (DeliveryAttempt(.accepted, status: 200), .ok, false),
      (
        DeliveryAttempt(.fixCredentials, status: 403, reason: "SERVICE_DISABLED", fault: .configuration), .failure, true
      ),
      (DeliveryAttempt(.retryLater(minimumWait: .zero), reason: "unreachable", fault: .connection), .failure, true),
      (
        DeliveryAttempt(.retryLater(minimumWait: .zero), status: 503, reason: "UNAVAILABLE", fault: .service), .warning,
        false
      ),
      (DeliveryAttempt(.fixRequest, status: 400, reason: "INVALID_ARGUMENT"), .warning, false),
    ] as [(DeliveryAttempt, CheckFinding.Verdict, Bool)])
  func meanings(_ attempt: DeliveryAttempt, _ verdict: CheckFinding.Verdict, _ hasRemedy: Bool) {
    let finding = AndroidCheck.judge(attempt, project: "demo")
    #expect(finding.verdict == verdict && (finding.remedy != nil) == hasRemedy)
  }
}

import Cryptography
import Glibc
@testable import Operations
import PushRules
import PushStore
import Reactors
@testable import Settings
import Testing

@Suite("Judgements about APNs, devices and key sets")
struct RouteJudgementTests {
  /// One app that is the default, and one of the sandbox.
  static func settings() throws -> APNSSettings {
    let key = P256PrivateKey().pem.replacing("\n", with: #"\n"#)
    let file = """
      APNS_KEY_ID=KEY0000001
      APNS_TEAM_ID=TEAM000001
      APNS_BUNDLE_ID=com.example.app
      APNS_PRIVATE_KEY=\(key)
      [app com.example.coach]
      APNS_ENVIRONMENT=sandbox
      """
    let settings = ExaminedSettings(environment: ["TACET_CONFIG": "/settings"]) { _ in Array(file.utf8) }
    return try #require(settings.apns, "\(settings.problems)")
  }

  @Test(
    "what APNs answers tells whether it believed the token and the topic",
    arguments: [
      (400, "BadDeviceToken", "ok"), (200, nil, "ok"), (403, "InvalidProviderToken", "fail"),
      (403, "ExpiredProviderToken", "fail"), (400, "TopicDisallowed", "fail"), (400, "BadTopic", "fail"),
      (403, "BadEnvironmentKeyIdInToken", "fail"), (429, "TooManyProviderTokenUpdates", "warn"),
      (503, "ServiceUnavailable", "fail"), (418, "IAmATeapot", "fail"), (404, nil, "fail"),
    ] as [(Int, String?, String)])
  func answers(_ status: Int, _ reason: String?, _ verdict: String) throws {
    let finding = try judge(.answered(status: status, reason: reason))
    #expect(finding.verdict.rawValue == verdict)
    #expect(finding.name == "apns com.example.app/production")
    #expect((finding.remedy == nil) == (verdict == "ok"))
  }

  @Test("what keeps the answer from coming is told apart, with what to do")
  func faults() throws {
    let answers: [RouteAnswer] = [
      .unsigned("x"), .untrusted("self-signed certificate"), .refused, .unresolved, .timedOut, .failed("x"),
    ]
    let findings = try answers.map(judge)
    #expect(findings.allSatisfy { $0.verdict == .failure && $0.remedy != nil })
    #expect(Set(findings.map(\.found)).count == answers.count)
    #expect(RouteProbe.answer(for: SystemError(operation: "connect", code: ECONNREFUSED)) == .refused)
    #expect(RouteProbe.answer(for: SystemError(operation: "connect", code: ETIMEDOUT)) == .timedOut)
    #expect(RouteProbe.answer(for: SystemError(operation: "connect", code: ENETUNREACH)) != .refused)
  }

  private func judge(_ answer: RouteAnswer) throws -> CheckFinding {
    let settings = try Self.settings()
    let route = PushRoute(app: settings.defaultApp.bundleIdentifier, environment: .production)
    return RouteCheck.judge(answer, of: route, at: settings.origin(of: .production))
  }

  @Test("devices are counted by app and environment, and those of unknown apps are told")
  func devices() throws {
    let settings = try Self.settings()
    let counts = [
      DeviceTokenCount(app: "", environment: "", tokens: 5),
      DeviceTokenCount(app: "com.example.app", environment: "sandbox", tokens: 2),
      DeviceTokenCount(app: "com.example.old\u{1B}[31m\n", environment: "", tokens: 1),
    ]
    #expect(
      DeviceTokenCheck.judge(counts, apns: settings).map(\.line) == [
        "ok    device tokens com.example.app: 5 production, 2 sandbox",
        "warn  device tokens com.example.coach: none is registered. To do: have the app register its token: PUT /v1/devices/{token}",
        "warn  device tokens com.example.old[31m: 1 of an app that is not in the settings: nothing is sent to them."
          + " To do: add a section [app com.example.old[31m] to the settings file, or remove the tokens",
      ])
    #expect(
      DeviceTokenCheck.routes(counts, apns: settings).map(\.name) == [
        "com.example.app/production", "com.example.app/sandbox", "com.example.coach/sandbox",
      ])
  }

  @Test(
    "a key set is JSON with a key",
    arguments: [
      (200, #"{"keys":[{"kty":"EC"},{"kty":"RSA"}]}"#, "ok"), (200, #"{"keys":[]}"#, "fail"), (200, "<html>", "fail"),
      (404, #"{"keys":[{"kty":"EC"}]}"#, "fail"), (200, #"{"keys":[{}]}"#, "fail"),
    ])
  func keySets(_ status: Int, _ body: String, _ verdict: String) {
    #expect(KeySetCheck.judge(.answered(status: status, body: Array(body.utf8))).verdict.rawValue == verdict)
    #expect(KeySetCheck.judge(.failed("x")).verdict == .failure)
  }

  @Test(
    "a secret's file is for its user and group",
    arguments: [(0o600, "ok"), (0o640, "ok"), (0o644, "warn"), (0o602, "warn"), (0o100600, "ok"), (0o100604, "warn")]
      as [(UInt32, String)])
  func files(_ mode: UInt32, _ verdict: String) {
    let finding = SecretFileCheck.judge(.init(setting: "TLS_KEY_FILE", path: "/key", mode: mode))
    #expect(finding.verdict.rawValue == verdict)
    #expect(SecretFileCheck.look(at: .init(key: "TLS_KEY_FILE", path: "/no such file")) == nil)
  }
}

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

@Suite("Judgements about sealing keys")
struct SealingKeyJudgementTests {
  private static func lines(_ keys: Int, _ settings: String) -> [String] {
    let file = """
      APNS_KEY_ID=KEY0000001
      APNS_TEAM_ID=TEAM000001
      APNS_BUNDLE_ID=com.example.app
      APNS_PRIVATE_KEY=\(P256PrivateKey().pem.replacing("\n", with: #"\n"#))
      \(settings)
      """
    let settings = ExaminedSettings(environment: ["TACET_CONFIG": "/settings"]) { _ in Array(file.utf8) }
    let counts = [DeviceTokenCount(app: "", environment: "", tokens: 40)]
    return SealingKeyCheck.judge(keys, counts, apns: settings.apns).map(\.line)
  }

  @Test("where settings seal, devices without keys show no words; elsewhere nothing is said")
  func lines() {
    #expect(Self.lines(12, "CONTENT=sealed") == ["ok    sealing keys: 12 devices have one; there are 40 device tokens"])
    #expect(Self.lines(0, "[app com.example.coach]\nCONTENT=sealed").first?.hasPrefix("warn  sealing keys: ") == true)
    #expect(Self.lines(0, "CONTENT=none") == [] && Self.lines(0, "") == [])
  }
}

import Cryptography
import Glibc
import PushRules
import Reactors
import Testing

@testable import HTTPTransfers
@testable import Operations
@testable import PushStore
@testable import Settings

@Suite("Judgements about APNs, other peers and devices")
struct RouteJudgementTests {
  /// One app that is the default, and perhaps others.
  private static func settings(_ more: String = "") throws -> APNSSettings {
    let file = """
      APNS_KEY_ID=KEY0000001
      APNS_TEAM_ID=TEAM000001
      APNS_BUNDLE_ID=com.example.app
      APNS_PRIVATE_KEY=\(P256PrivateKey().pem.replacing("\n", with: #"\n"#))
      \(more)
      """
    let settings = ExaminedSettings(environment: ["TACET_CONFIG": "/settings"]) { _ in Array(file.utf8) }
    return try #require(settings.apns, "\(settings.problems)")
  }

  @Test(
    "what APNs answers tells whether it believed the token and the topic",
    arguments: [
      (400, "BadDeviceToken", .ok), (200, nil, .ok), (403, "InvalidProviderToken", .failure),
      (403, "ExpiredProviderToken", .failure), (400, "TopicDisallowed", .failure), (400, "BadTopic", .failure),
      (403, "BadEnvironmentKeyIdInToken", .failure), (429, "TooManyProviderTokenUpdates", .warning),
      (503, "ServiceUnavailable", .failure), (418, "IAmATeapot", .failure), (404, nil, .failure),
    ] as [(Int, String?, Judgement.Verdict)])
  func answers(_ status: Int, _ reason: String?, _ verdict: Judgement.Verdict) throws {
    let judgement = Judgement.route(status, reason, at: try Self.settings().origin(of: .production))
    #expect(judgement.verdict == verdict && (judgement.remedy == nil) == (verdict == .ok))
  }

  @Test("what keeps a connection from being made is told apart, with what to do")
  func faults() throws {
    let origin = try Self.settings().origin(of: .production)
    let errors: [any Error] = [
      SystemError(operation: "connect", code: ECONNREFUSED), SystemError(operation: "connect", code: ETIMEDOUT),
      SystemError(operation: "connect", code: ENETUNREACH),
    ]
    let found = errors.map { Judgement.unconnected($0, to: origin) }
    #expect(found.allSatisfy { $0.verdict == .failure && $0.remedy != nil })
    #expect(found[0].found.hasPrefix("nobody takes connections at "))
    #expect(found[1].found.hasSuffix(" does not answer in time"))
    #expect(found[2].remedy == "see whether a proxy or firewall interferes")
  }

  @Test("devices are counted by app and environment, and those of unknown apps are told")
  func devices() throws {
    let settings = try Self.settings("[app com.example.coach]\nAPNS_ENVIRONMENT=sandbox")
    let counts = [
      DeviceTokenCount(app: "", environment: "", tokens: 5),
      DeviceTokenCount(app: "com.example.app", environment: "sandbox", tokens: 2),
      DeviceTokenCount(app: "com.example.old\u{1B}[31m\n", environment: "", tokens: 1),
    ]
    #expect(
      Judgement.deviceTokens(counts, settings).map { CheckFinding("device tokens", $0).line } == [
        "ok    device tokens com.example.app: 5 production, 2 sandbox",
        "warn  device tokens com.example.coach: none is registered. To do: have the app register its token: PUT /v1/devices/{token}",
        "warn  device tokens com.example.old[31m: 1 of an app that is not in the settings: nothing is sent to them."
          + " To do: add a section [app com.example.old[31m] to the settings file, or remove the tokens",
      ])
    #expect(
      settings.routes(of: counts).map(\.name) == [
        "com.example.app/production", "com.example.app/sandbox", "com.example.coach/sandbox",
      ])
  }

  @Test("where settings seal, devices without keys show no words; elsewhere nothing is said")
  func sealingKeys() throws {
    func judgements(_ keys: Int, _ settings: String) throws -> [Judgement] {
      Judgement.sealingKeys(
        keys, [DeviceTokenCount(app: "", environment: "", tokens: 40)], try Self.settings(settings))
    }
    #expect(try judgements(12, "CONTENT=sealed") == [.ok("12 devices have one; there are 40 device tokens")])
    #expect(try judgements(0, "[app com.example.coach]\nCONTENT=sealed").map(\.verdict) == [.warning])
    #expect(try judgements(0, "CONTENT=none") == [] && judgements(0, "") == [])
  }

  @Test(
    "a key set is JSON with a key",
    arguments: [
      (200, #"{"keys":[{"kty":"EC"},{"kty":"RSA"}]}"#, .ok), (200, #"{"keys":[]}"#, .failure),
      (200, "<html>", .failure),
      (404, #"{"keys":[{"kty":"EC"}]}"#, .failure), (200, #"{"keys":[{}]}"#, .failure),
    ] as [(Int, String, Judgement.Verdict)])
  func keySets(_ status: Int, _ body: String, _ verdict: Judgement.Verdict) {
    #expect(Judgement.keySet(status: status, Array(body.utf8)).verdict == verdict)
  }

  @Test("any answer shows that the host's receiver is there; without one it fails")
  func receiver() {
    #expect(Judgement.receiver(.success(405)).verdict == .ok)
    #expect(Judgement.receiver(.failure(HTTPTransferError(.unreachable))).verdict == .failure)
  }
}

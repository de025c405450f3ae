import Cryptography
import Foundation
import TestAPNSCases
import TestKeys
import Testing

@testable import Simulators

@Suite("The judge of requests")
struct RequestJudgeTests {
  @Test("a request without an identifier gets a new one each time")
  func mintedIdentifiers() throws {
    let fixtures = try CaseFixtures.shared()
    let request = try CaseRequest(["headers": ["apns-id": NSNull()]], fixtures: fixtures) {
      try fixtures.mint($0, at: fixtures.now)
    }
    let identifiers = Set(try (0..<10).map { _ in try judge(request, fixtures).identifier })
    #expect(identifiers.count == 10 && identifiers.allSatisfy { UUID(uuidString: $0) != nil })
  }

  @Test("scripted answers are given in order and as often as they say, then the normal ones come again")
  func scriptedAnswers() throws {
    let fixtures = try CaseFixtures.shared()
    let request = try CaseRequest([:], fixtures: fixtures) {
      try fixtures.mint($0, at: fixtures.now)
    }
    var registry = try fixtures.registry()
    let script = [
      ScriptedAnswer(status: 503, reason: "ServiceUnavailable", times: 2), ScriptedAnswer(status: 200),
      ScriptedAnswer(status: 429, reason: "TooManyRequests"),
    ]
    registry.register(
      RegisteredDevice(environment: .production, bundle: "com.example.app", answers: script),
      token: try fixtures.deviceToken("ok"))
    var judge = RequestJudge(environment: .production)
    var binding = ProviderBinding()
    let statuses = (0..<6).map { _ in
      judge.judge(request.inspected, binding: &binding, registry: &registry, now: fixtures.now).status
    }
    #expect(statuses == [503, 503, 200, 429, 200, 200])
  }

  @Test("an unknown but well-formed token is taken when the registry says so, a malformed one never")
  func acceptsAnyToken() throws {
    let fixtures = try CaseFixtures.shared()
    var registry = try fixtures.registry()
    registry.acceptsAnyToken = true
    var judge = RequestJudge(environment: .production)
    var binding = ProviderBinding()
    for (path, status) in [("/3/device/00ff", 200), ("/3/device/00fg", 400), ("/3/device/00f", 400)] {
      let request = try CaseRequest(
        ["path": path], fixtures: fixtures
      ) { try fixtures.mint($0, at: fixtures.now) }
      binding = ProviderBinding()
      let verdict = judge.judge(request.inspected, binding: &binding, registry: &registry, now: fixtures.now)
      #expect(verdict.status == status)
    }
  }

  private func judge(_ request: CaseRequest, _ fixtures: CaseFixtures) throws -> PushVerdict {
    var judge = RequestJudge(environment: request.environment)
    var binding = ProviderBinding()
    var registry = try fixtures.registry()
    return judge.judge(request.inspected, binding: &binding, registry: &registry, now: fixtures.now)
  }
}

@Suite("Identifiers that the service makes")
struct MintedIdentifiersTests {
  @Test("they are upper-case UUIDs in form, and each is another one")
  func form() {
    let made = (0..<100).map { _ in MintedIdentifiers.next() }
    #expect(Set(made).count == 100)
    #expect(made.allSatisfy { APNSInquiry.isCanonicalIdentifier($0.lowercased()) && $0 == $0.uppercased() })
  }
}

private func mismatches(_ count: Int) -> [String] { Array(repeating: "payload-type-mismatch", count: count) }

@Suite("The checks of a request")
struct APNSInquiryTests {
  @Test(
    "identifiers are UUIDs in lower case, of any version",
    arguments: [
      ("11111111-2222-4333-8444-555555555555", true), ("f4121b12-e0bf-3266-f079-d9253e98bf49", true),
      ("F4121B12-E0BF-3266-F079-D9253E98BF49", false), ("11111111222243338444555555555555", false),
      ("11111111-2222-4333-8444-55555555555", false), ("11111111-2222-4333-8444-555555555555-", false),
      ("1111111g-2222-4333-8444-555555555555", false), ("", false),
    ])
  func identifiers(_ text: String, isCanonical: Bool) {
    #expect(APNSInquiry.isCanonicalIdentifier(text) == isCanonical)
  }

  @Test(
    "device tokens are whole bytes in hexadecimal",
    arguments: [("00", true), ("aF", true), ("", false), ("0", false), ("0g", false), ("é", false), ("0 ", false)])
  func deviceTokens(_ text: String, isToken: Bool) {
    #expect(APNSInquiry.isDeviceToken(text) == isToken)
  }

  @Test(
    "expirations are digits that fit 64 bits",
    arguments: [
      ("0", 0), ("1790003600", 1_790_003_600), ("9223372036854775807", Int64.max), ("9223372036854775808", nil),
      ("+1", nil), ("1.0", nil), ("", nil), (" 1", nil),
    ] as [(String, Int64?)])
  func expirations(_ text: String, seconds: Int64?) {
    var inquiry = inquiry(fields: [(name: "apns-expiration", value: text)])
    var refusal: Refusal?
    do throws(Refusal) { try inquiry.checkFields() } catch { refusal = error }
    #expect(inquiry.push.expirationSeconds == seconds)
    #expect(refusal == (seconds == nil ? .badRequest("BadExpirationDate") : nil))
  }

  @Test(
    "payloads that do not do what their type promises are reported",
    arguments: [
      ("alert", #"{"aps":{"alert":"hi","thread-id":"1"}}"#, []),
      ("alert", #"{"aps":{"alert":"hi","priority":5,"topic":"x"}}"#, ["aps-unknown-key", "aps-unknown-key"]),
      ("alert", #"{"aps":{"content-available":1}}"#, ["payload-type-mismatch"]),
      ("alert", "{}", []),
      ("background", #"{"aps":{"content-available":1}}"#, []),
      ("background", #"{"aps":{"content-available":1,"sound":"x"}}"#, ["background-with-alert"]),
      ("background", #"{"aps":{"alert":"hi"}}"#, ["payload-type-mismatch", "background-with-alert"]),
      ("liveactivity", #"{"aps":{"timestamp":1,"event":"update","content-state":{}}}"#, []),
      ("liveactivity", #"{"aps":{"timestamp":1,"event":"end"}}"#, []),
      ("liveactivity", #"{"aps":{"event":"update"}}"#, ["live-activity-missing-key", "live-activity-missing-key"]),
      ("mdm", #"{"mdm":"magic"}"#, []),
      ("alert", #"{"aps":{"alert":"hi","content-state":{},"event":"update"}}"#, mismatches(2)),
      ("widgets", #"{"aps":{"content-changed":true}}"#, []), ("widgets", #"{"aps":{}}"#, mismatches(1)),
    ])
  func lint(_ type: String, _ payload: String, _ codes: [String]) throws {
    var inquiry = inquiry(fields: [], body: payload)
    inquiry.push.pushType = SimulatedPushType(rawValue: type)
    try inquiry.checkPayload()
    #expect(inquiry.findings.map(\.code.rawValue) == codes)
  }

  @Test("bodies that are no JSON object are refused", arguments: ["", "[]", "\"x\"", "1", "{", "{\"a\":}", "\u{0}"])
  func notObjects(_ body: String) {
    var inquiry = inquiry(fields: [], body: body)
    #expect(throws: Refusal.badRequest("PayloadEmpty")) { try inquiry.checkPayload() }
  }

  private func inquiry(fields: [(name: String, value: String)], body: String = "") -> APNSInquiry {
    APNSInquiry(
      InspectedRequest(method: "POST", path: "/3/device/00", fields: fields, body: Array(body.utf8)),
      environment: .production, now: WallInstant(seconds: 1_790_000_000))
  }
}

@Suite("Signing keys")
struct ProviderKeyTests {
  @Test("a private and a public PEM text give the same public key, anything else gives none")
  func pem() throws {
    let key = P256PrivateKey()
    for text in [key.pem, key.publicKey.pem] {
      let read = try ProviderKey.publicKey(fromPEM: text)
      #expect(read == key.publicKey)
    }
    #expect(throws: (any Error).self) { try ProviderKey.publicKey(fromPEM: "no key") }
    let foreign = KeyText.elliptic(curve: "P-384")
    #expect(throws: (any Error).self) { try ProviderKey.publicKey(fromPEM: foreign) }
  }
}

@Suite("The rate of a device")
struct TokenRateTests {
  @Test("as many pushes as the rate says are taken at once, and one more for each share of the time that has passed")
  func edges() {
    var meter = TokenRateMeter()
    let rate = TokenRate(pushes: 3, seconds: 30)
    let moments: [Int64] = [
      0, 0, 0, 0, 9_999_999, 10_000_000, 10_000_000, 40_000_000, 40_000_000, 40_000_000, 40_000_000,
    ]
    let admitted = moments.map { meter.admits("aa", rate, now: WallInstant(microseconds: 1_000_000 + $0)) }
    #expect(admitted == [true, true, true, false, false, true, false, true, true, true, false])
  }

  @Test("devices do not count for one another")
  func apart() {
    var meter = TokenRateMeter()
    let rate = TokenRate(pushes: 1, seconds: 60)
    let admitted = ["aa", "bb", "aa", "bb"].map { meter.admits($0, rate, now: WallInstant(seconds: 1)) }
    #expect(admitted == [true, true, false, false])
  }

  @Test("numbers below one count as one")
  func leastRate() {
    #expect(TokenRate(pushes: 0, seconds: -1) == TokenRate(pushes: 1, seconds: 1))
  }
}

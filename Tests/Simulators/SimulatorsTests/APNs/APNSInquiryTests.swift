import Testing

@testable import Simulators

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

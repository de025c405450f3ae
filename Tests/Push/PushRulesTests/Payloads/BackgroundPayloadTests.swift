import PushRules
import Testing

@Suite("Background payloads")
struct BackgroundPayloadTests {
  @Test("aps holds content-available alone, custom data stands beside it")
  func bytes() throws {
    #expect(try text(BackgroundPayload()) == #"{"aps":{"content-available":1}}"#)
    let payload = try BackgroundPayload(custom: ["sync": true, "since": 12])
    #expect(text(payload) == #"{"aps":{"content-available":1},"sync":true,"since":12}"#)
    #expect(payload.pushType == .background)
  }

  @Test("custom data cannot replace what belongs to Apple")
  func reservedKey() throws {
    let error = try #require(throws: PushRequestError.self) { try BackgroundPayload(custom: ["aps": .object([:])]) }
    #expect(error.code == .customKeyReserved)
  }
}

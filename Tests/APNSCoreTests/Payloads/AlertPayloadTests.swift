import APNSCore
import Testing

@Suite("Alert payloads")
struct AlertPayloadTests {
  @Test("custom data cannot replace what belongs to Apple")
  func reservedKey() throws {
    let error = try #require(throws: PushRequestError.self) {
      try AlertPayload(title: "t", body: "b", custom: ["type": "message", "aps": 1])
    }
    #expect(error.code == .customKeyReserved)
  }

  @Test("a key that only looks like Apple's is the app's own", arguments: ["APS", "aps ", "priority"])
  func similarKeys(key: String) throws {
    var custom = PayloadObject()
    custom[key] = 1
    #expect(try AlertPayload(title: "t", body: "b", custom: custom).custom == custom)
  }
}

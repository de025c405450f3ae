import APNSCore
import Testing

@Suite("Management payloads")
struct ManagementPayloadTests {
  @Test("the document is the push magic, without aps")
  func bytes() throws {
    let payload = try ManagementPayload(pushMagic: "1B2C-\"x\"")
    #expect(text(payload) == #"{"mdm":"1B2C-\"x\""}"#)
    #expect(payload.pushType == .mdm)
  }

  @Test("an empty push magic is refused")
  func empty() throws {
    let error = try #require(throws: PushRequestError.self) { try ManagementPayload(pushMagic: "") }
    #expect(error.code == .valueEmpty)
  }
}

import APNSCore
import Testing

@Suite("Custom payloads")
struct CustomPayloadTests {
  @Test(
    "the document is the app's data alone",
    arguments: [
      (CustomPayload.Kind.complication, PushType.complication), (.fileprovider, .fileprovider), (.location, .location),
      (.pushtotalk, .pushtotalk), (.voip, .voip),
    ])
  func bytes(kind: CustomPayload.Kind, type: PushType) throws {
    #expect(try text(CustomPayload(kind)) == "{}")
    let payload = try CustomPayload(kind, custom: ["caller": "Ana", "video": false])
    #expect(text(payload) == #"{"caller":"Ana","video":false}"#)
    #expect(payload.pushType == type)
  }

  @Test("custom data cannot be taken for Apple's", arguments: CustomPayload.Kind.allCases)
  func reservedKey(kind: CustomPayload.Kind) throws {
    let error = try #require(throws: PushRequestError.self) { try CustomPayload(kind, custom: ["aps": 1]) }
    #expect(error.code == .customKeyReserved)
  }
}

import APNSCore
import Testing

@Suite("Push requests")
struct PushRequestTests {
  @Test(
    "a body up to the type's limit is taken", arguments: [(PushType.alert, 4096), (.voip, 5120), (.liveactivity, 4096)])
  func limit(type: PushType, bytesMax: Int) throws {
    let head = try makeHead(pushType: type)
    #expect(try PushRequest(head: head, body: [UInt8](repeating: 32, count: bytesMax)).body.count == bytesMax)
    let error = try #require(throws: PushRequestError.self) {
      try PushRequest(head: head, body: [UInt8](repeating: 32, count: bytesMax + 1))
    }
    #expect(error.code == .payloadTooLarge)
  }

  @Test("an empty body is refused")
  func empty() throws {
    let error = try #require(throws: PushRequestError.self) { try PushRequest(head: makeHead(), body: []) }
    #expect(error.code == .payloadEmpty)
  }
}

import APNSCore
import Testing

@Suite("Reload payloads")
struct ReloadPayloadTests {
  @Test(
    "aps says that the content changed",
    arguments: zip(ReloadPayload.allCases, [PushType.widgets, .controls]))
  func bytes(payload: ReloadPayload, type: PushType) {
    #expect(text(payload) == #"{"aps":{"content-changed":true}}"#)
    #expect(payload.pushType == type)
  }
}

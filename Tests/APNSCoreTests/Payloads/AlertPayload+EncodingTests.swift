import APNSCore
import Testing

private func text(_ payload: AlertPayload) -> String {
  String(decoding: payload.encoded(), as: UTF8.self)
}

@Suite("The encoding of an alert payload")
struct AlertPayloadEncodingTests {
  @Test("everything set comes in a fixed order")
  func full() throws {
    let payload = try AlertPayload(
      title: "Message from Ana", body: "Hi \"you\"", badge: 3, sound: "default", threadIdentifier: "c-1",
      category: "MESSAGE", custom: ["type": "message", "conversation_id": "c-1", "message_id": "m-1"])
    #expect(
      text(payload)
        == #"{"aps":{"alert":{"title":"Message from Ana","body":"Hi \"you\""},"badge":3,"sound":"default","#
        + #""thread-id":"c-1","category":"MESSAGE"},"type":"message","conversation_id":"c-1","message_id":"m-1"}"#)
  }

  @Test(
    "what is empty or nil is left out",
    arguments: [
      ("", "", #"{"aps":{"alert":{}}}"#), ("t", "", #"{"aps":{"alert":{"title":"t"}}}"#),
      ("", "b", #"{"aps":{"alert":{"body":"b"}}}"#), ("t", "b", #"{"aps":{"alert":{"title":"t","body":"b"}}}"#),
    ])
  func sparse(title: String, body: String, expected: String) throws {
    #expect(try text(AlertPayload(title: title, body: body)) == expected)
  }

  @Test("a badge of zero is sent, because it clears the icon")
  func zeroBadge() throws {
    #expect(try text(AlertPayload(title: "", body: "", badge: 0)) == #"{"aps":{"alert":{},"badge":0}}"#)
  }
}

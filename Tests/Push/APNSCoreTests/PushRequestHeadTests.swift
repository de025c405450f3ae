import APNSCore
import Testing

@Suite("Push request heads")
struct PushRequestHeadTests {
  @Test("a full head has its fields in wire order")
  func full() throws {
    let head = try makeHead(collapseIdentifier: CollapseIdentifier("m-1"))
    #expect(head.path == "/3/device/" + String(repeating: "ab", count: 32))
    #expect(
      head.fields.map { "\($0.name): \($0.value)" } == [
        "content-type: application/json",
        "apns-topic: com.example.app",
        "apns-push-type: alert",
        "apns-priority: 10",
        "apns-expiration: 1790000000",
        "apns-id: \(head.identifier.text)",
        "apns-collapse-id: m-1",
      ])
  }

  @Test("what is not wanted is left out")
  func sparse() throws {
    let names = try makeHead(expiration: .servicePolicy).fields.map(\.name)
    #expect(names == ["content-type", "apns-topic", "apns-push-type", "apns-priority", "apns-id"])
  }

  @Test("the topic follows the push type")
  func topic() throws {
    #expect(try makeHead(pushType: .liveactivity).topic == "com.example.app.push-type.liveactivity")
  }

  @Test("a priority that APNs does not take for the type is refused")
  func priority() throws {
    let error = try #require(throws: PushRequestError.self) {
      try makeHead(pushType: .background, priority: .immediate)
    }
    #expect(error.code == .priorityNotAllowed)
    #expect(error.description == "priorityNotAllowed: priority 10 is not allowed for a push of type background")
    _ = try makeHead(pushType: .background, priority: .powerAware)
  }
}

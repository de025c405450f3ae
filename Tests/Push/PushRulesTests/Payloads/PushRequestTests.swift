import PushRules
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

/// A head with defaults, so that a test shows only what it is about.
func makeHead(
  pushType: PushType = .alert,
  priority: PushPriority = .immediate,
  expiration: PushExpiration = .until(unixSeconds: 1_790_000_000),
  collapseIdentifier: CollapseIdentifier? = nil
) throws -> PushRequestHead {
  let token = try DeviceToken(String(repeating: "ab", count: 32))
  return try PushRequestHead(
    deviceToken: token,
    pushType: pushType,
    bundleIdentifier: BundleIdentifier("com.example.app"),
    priority: priority,
    expiration: expiration,
    identifier: PushIdentifier(eventKind: "message", event: "m-1", recipient: "u-1", deviceToken: token),
    collapseIdentifier: collapseIdentifier)
}

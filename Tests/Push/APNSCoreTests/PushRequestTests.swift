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

private func request(
  _ payload: some PushPayload, priority: PushPriority? = nil, expiration: PushExpiration? = nil
) throws -> PushRequest {
  let token = try DeviceToken("abcd")
  return try PushRequest(
    payload, to: token, of: BundleIdentifier("com.example.app"), priority: priority, expiration: expiration,
    identifier: PushIdentifier(eventKind: "k", event: "e", recipient: "r", deviceToken: token))
}

/// A document of a push type that the service itself never sends.
private struct OtherPayload: PushPayload {
  let pushType: PushType
  let document: String

  func encoded() -> [UInt8] { Array(document.utf8) }
}

/// A payload of the type with a text in it; nil where the payload is of one size only.
private func payload(_ type: PushType, holding text: String) throws -> (any PushPayload)? {
  let custom: PayloadObject = ["k": .string(text)]
  switch type {
  case .alert: return try AlertPayload(title: "t", custom: custom)
  case .background: return try BackgroundPayload(custom: custom)
  case .liveactivity:
    let document = #"{"aps":{"timestamp":1,"event":"update","content-state":{"k":"\#(text)"}}}"#
    return OtherPayload(pushType: type, document: document)
  case .mdm: return OtherPayload(pushType: type, document: #"{"mdm":"\#(text)"}"#)
  case .complication, .fileprovider, .location, .pushtotalk, .voip:
    return OtherPayload(pushType: type, document: #"{"k":"\#(text)"}"#)
  case .controls, .widgets: return nil
  }
}

@Suite("Push requests made of payloads")
struct PushRequestPayloadTests {
  @Test("bytes are counted after serialisation, on both sides of each type's limit", arguments: PushType.allCases)
  func limit(type: PushType) throws {
    let limit = type == .voip ? 5_120 : 4_096
    guard let small = try payload(type, holding: "é") else { return }
    // Letters of two bytes, and one of one byte where the limit is odd or even beside the rest.
    let room = limit - small.encoded().count
    let text = String(repeating: "é", count: 1 + room / 2) + String(repeating: "e", count: room % 2)
    let largest = try #require(try payload(type, holding: text))
    let tooLarge = try #require(try payload(type, holding: text + "e"))
    #expect(largest.encoded().count == limit && tooLarge.encoded().count == limit + 1)
    #expect(try request(largest).body == largest.encoded())
    let error = try #require(throws: PushRequestError.self) { try request(tooLarge) }
    #expect(error.code == .payloadTooLarge)
  }

  @Test("the payload brings its push type, and that its topic, priority and expiration")
  func head() throws {
    let call = try request(OtherPayload(pushType: .pushtotalk, document: "{}")).head
    #expect(call.pushType == .pushtotalk && call.topic == "com.example.app.voip-ptt")
    #expect(call.priority == .immediate && call.expiration == .attemptOnce)
    let sync = try request(BackgroundPayload(), expiration: .until(unixSeconds: 9)).head
    #expect(sync.priority == .powerAware && sync.expiration == .until(unixSeconds: 9))
    #expect(try request(AlertPayload(title: "t"), priority: .neverWaking).head.priority == .neverWaking)
  }

  @Test("a priority that APNs calls an error is refused")
  func priority() throws {
    let error = try #require(throws: PushRequestError.self) { try request(BackgroundPayload(), priority: .immediate) }
    #expect(error.code == .priorityNotAllowed)
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

import PushRules
import Testing

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
  case .liveactivity: return try LiveActivityPayload(timestamp: 1, event: .update, contentState: custom)
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

import Testing

@testable import PushRules

@Suite("Push requests")
struct PushRequestTests {
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
}

@Suite("Push types")
struct PushTypeTests {
  @Test(
    "each type has its header value and its topic",
    arguments: [
      (PushType.alert, "alert", "com.example.app"),
      (.background, "background", "com.example.app"),
      (.complication, "complication", "com.example.app.complication"),
      (.controls, "controls", "com.example.app.push-type.controls"),
      (.fileprovider, "fileprovider", "com.example.app.pushkit.fileprovider"),
      (.liveactivity, "liveactivity", "com.example.app.push-type.liveactivity"),
      (.location, "location", "com.example.app.location-query"),
      (.mdm, "mdm", "com.example.app"),
      (.pushtotalk, "pushtotalk", "com.example.app.voip-ptt"),
      (.voip, "voip", "com.example.app.voip"),
      (.widgets, "widgets", "com.example.app.push-type.widgets"),
    ])
  func topics(type: PushType, header: String, topic: String) {
    #expect(type.rawValue == header)
    #expect(type.topic(bundleIdentifier: "com.example.app") == topic)
  }

  @Test("what Apple calls an error is not allowed, everything else is", arguments: PushType.allCases)
  func priorities(type: PushType) {
    let expected: [PushPriority] =
      switch type {
      case .background: [.powerAware]
      case .liveactivity: [.immediate, .powerAware]
      default: PushPriority.allCases
      }
    #expect(type.allowedPriorities == expected)
  }
}

@Suite("What a push type is usually sent with")
struct PushTypeDefaultsTests {
  @Test(
    "the usual priority is one that APNs takes: 5 where 10 is an error or counted, else 10",
    arguments: PushType.allCases)
  func priority(type: PushType) {
    #expect(type.usualPriority == ([.background, .liveactivity].contains(type) ? .powerAware : .immediate))
    #expect(type.allowedPriorities.contains(type.usualPriority))
  }

  @Test("only speech is worth nothing later", arguments: PushType.allCases)
  func expiration(type: PushType) {
    #expect(type.usualExpiration == (type == .pushtotalk ? .attemptOnce : .servicePolicy))
  }
}

@Suite("Push expiration")
struct PushExpirationTests {
  @Test(
    "the header value is never signed, and absent when the service decides",
    arguments: [
      (PushExpiration.attemptOnce, Optional("0")),
      (.until(unixSeconds: 1_790_000_000), "1790000000"),
      (.until(unixSeconds: 0), "0"),
      (.until(unixSeconds: -1), "0"),
      (.servicePolicy, nil),
    ])
  func headerValues(expiration: PushExpiration, value: String?) {
    #expect(expiration.headerValue == value)
  }
}

@Suite("Push identifiers")
struct PushIdentifierTests {
  private let token = String(repeating: "ab", count: 32)

  private func identifier(
    kind: String = "message", event: String = "0b8f8c9e-1111-4222-8333-444455556666", recipient: String = "user-1",
    token: String? = nil
  ) throws -> String {
    try PushIdentifier(
      eventKind: kind, event: event, recipient: recipient, deviceToken: DeviceToken(token ?? self.token)
    ).text
  }

  @Test("the example of RFC 9562 A.4 comes out")
  func publishedVector() {
    let dns: [UInt8] = [
      0x6B, 0xA7, 0xB8, 0x10, 0x9D, 0xAD, 0x11, 0xD1, 0x80, 0xB4, 0x00, 0xC0, 0x4F, 0xD4, 0x30, 0xC8,
    ]
    let text = PushIdentifier.version5(namespace: dns, name: ["www.example.com"])
    #expect(text == "2ed6657d-e927-568b-95e1-2665a8aea6a2")
  }

  @Test("the same push has the same identifier in every process, as another implementation computed it")
  func stable() throws {
    #expect(try identifier() == "6704627d-c881-5cde-a9a2-e21af9e93ee1")
    #expect(try identifier(token: token.uppercased()) == "6704627d-c881-5cde-a9a2-e21af9e93ee1")
  }

  @Test("every part makes a difference, and parts do not run into one another")
  func distinct() throws {
    let all = [
      try identifier(),
      try identifier(kind: "messages"),
      try identifier(event: "0B8F8C9E-1111-4222-8333-444455556666"),
      try identifier(recipient: "user-2"),
      try identifier(token: "abab"),
      try identifier(kind: "a", event: "bc"),
      try identifier(kind: "ab", event: "c"),
    ]
    #expect(Set(all).count == all.count)
  }
}

@Suite("Collapse identifiers")
struct CollapseIdentifierTests {
  @Test("1 to 64 bytes are taken", arguments: [1, 36, 63, 64])
  func taken(bytes: Int) throws {
    let text = String(repeating: "c", count: bytes)
    #expect(try CollapseIdentifier(text).text == text)
  }

  @Test(
    "empty, longer or unfit for a header is refused",
    arguments: ["", String(repeating: "c", count: 65), "a b", " a", "a\n", "é", "a\u{7F}", "a\u{0}"])
  func refused(text: String) throws {
    let error = try #require(throws: PushRequestError.self) { try CollapseIdentifier(text) }
    #expect(error.code == .collapseIdentifierMalformed)
  }
}

@Suite("The two push services")
struct APNSEnvironmentTests {
  @Test("each has Apple's host and its name in the settings")
  func hosts() {
    #expect(APNSEnvironment(rawValue: "production")?.hostName == "api.push.apple.com")
    #expect(APNSEnvironment(rawValue: "sandbox")?.hostName == "api.sandbox.push.apple.com")
  }
}

@Suite("Routes")
struct PushRouteTests {
  @Test("a route's name has its app and environment")
  func name() throws {
    let app = try BundleIdentifier("com.example.app")
    let names = APNSEnvironment.allCases.map { PushRoute(app: app, environment: $0).name }
    #expect(names == ["com.example.app/production", "com.example.app/sandbox"])
  }
}

@Suite("Bundle identifiers")
struct BundleIdentifierTests {
  @Test(
    "letters, digits, dots and hyphens are taken",
    arguments: ["a", "com.example.App-2", String(repeating: "x", count: 255)])
  func taken(text: String) throws {
    #expect(try BundleIdentifier(text).text == text)
  }

  @Test(
    "anything else is refused",
    arguments: ["", "com example", "com.exämple", "a\r\nb", "a_b", "a/b", String(repeating: "x", count: 256)])
  func refused(text: String) throws {
    let error = try #require(throws: PushRequestError.self) { try BundleIdentifier(text) }
    #expect(error.code == .bundleIdentifierMalformed)
  }
}

@Suite("Device tokens")
struct DeviceTokenTests {
  @Test("hexadecimal text of any even length is taken", arguments: [2, 64, 108, 160, DeviceToken.digitsMax])
  func lengths(digits: Int) throws {
    #expect(try DeviceToken(String(repeating: "0", count: digits)).hexadecimal.count == digits)
  }

  @Test("both cases are one token")
  func cases() throws {
    #expect(try DeviceToken("00AbCdEf") == DeviceToken("00aBcDeF"))
    #expect(try DeviceToken("00AbCdEf").hexadecimal == "00abcdef")
  }

  @Test(
    "anything else is refused",
    arguments: ["", "a", "abc", "0g", "zz", "a/", "..", "a?", " a", "\u{FF41}\u{FF42}", "0\n", "%0"])
  func refused(text: String) {
    #expect(throws: PushRequestError.self) { try DeviceToken(text) }
  }

  @Test("the cap is exact, and the error does not quote the token")
  func cap() throws {
    let error = try #require(throws: PushRequestError.self) {
      try DeviceToken(String(repeating: "ab", count: DeviceToken.digitsMax / 2 + 1))
    }
    #expect(error.code == .deviceTokenMalformed)
    #expect(!error.description.contains("abab"))
  }
}

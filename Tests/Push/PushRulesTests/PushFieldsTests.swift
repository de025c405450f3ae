import Testing

@testable import PushRules

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

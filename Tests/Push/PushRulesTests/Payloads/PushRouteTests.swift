import Testing

@testable import PushRules

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

@Suite("ASCII characters")
struct ASCIICharactersTests {
  @Test("the letters and digits are these and no others")
  func lettersAndDigits() {
    let found = (UInt8.min...UInt8.max).filter(\.isASCIILetterOrDigit)
    let expected = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    #expect(found.elementsEqual(expected.utf8))
  }
}

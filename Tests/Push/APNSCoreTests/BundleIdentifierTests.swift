import APNSCore
import Testing

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

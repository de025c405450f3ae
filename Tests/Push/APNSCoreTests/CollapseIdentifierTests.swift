import APNSCore
import Testing

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

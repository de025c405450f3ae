import APNSCore
import Testing

@Suite("Channel identifiers")
struct ChannelIdentifierTests {
  @Test(
    "standard base64 is taken as it is",
    arguments: ["dHN0LXNyY2gtY2hubA==", "AAAA", "AAA=", "AA==", "+/z9", String(repeating: "Zz09", count: 64)])
  func taken(text: String) throws {
    #expect(try ChannelIdentifier(text).text == text)
  }

  @Test(
    "anything else is refused",
    arguments: ["", "=", "====", "A===", "A", "AA", "AAA", "AAAAA", "AA=A", "AAA-", "AAA_", "AA A", "AAA\n", "ééé"])
  func refused(text: String) throws {
    let error = try #require(throws: PushRequestError.self) { try ChannelIdentifier(text) }
    #expect(error.code == .channelIdentifierMalformed)
  }
}

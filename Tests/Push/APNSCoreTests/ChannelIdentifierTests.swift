import APNSCore
import Testing

@Suite("Channel identifiers")
struct ChannelIdentifierTests {
  @Test(
    "base64 with its padding is taken as it is",
    arguments: ["AAECAwQFBgcICQoLDA0ODw==", "abcd", "abc=", "ab==", "+/+/", String(repeating: "Z", count: 512)])
  func taken(text: String) throws {
    #expect(try ChannelIdentifier(text).text == text)
    #expect(try PushDestination.channel(ChannelIdentifier(text)).text == text)
  }

  @Test(
    "anything else is refused",
    arguments: [
      "", "=", "====", "a===", "=abc", "ab=c", "abc", "abcde", "!!!", "!!!!", "ab-_", "ab\r\n", "ab c", "aé=",
      String(repeating: "Z", count: 516),
    ])
  func refused(text: String) throws {
    let error = try #require(throws: PushRequestError.self) { try ChannelIdentifier(text) }
    #expect(error.code == .channelIdentifierMalformed)
    #expect(!error.description.contains("ZZ"))
  }

  @Test("each destination has its service")
  func service() throws {
    #expect(try PushDestination.device(DeviceToken("ab")).service == .devices)
    #expect(try PushDestination.channel(ChannelIdentifier("abcd")).service == .broadcasts)
  }
}

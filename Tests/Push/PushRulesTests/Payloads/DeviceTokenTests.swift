import PushRules
import Testing

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

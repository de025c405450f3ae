import Testing

@testable import HTTP1

@Suite struct HTTPDateTests {
  @Test(
    "a second is written as the Date field wants it",
    arguments: [
      (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
      (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
      (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
      (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
      (951_868_800, "Wed, 01 Mar 2000 00:00:00 GMT"),
      (1_767_225_599, "Wed, 31 Dec 2025 23:59:59 GMT"),
      (1_767_225_600, "Thu, 01 Jan 2026 00:00:00 GMT"),
      (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
      (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
    ])
  func writes(_ seconds: Int, _ text: String) {
    #expect(HTTPDate(unixSeconds: seconds).fieldLine == Array("Date: \(text)\r\n".utf8))
  }
}

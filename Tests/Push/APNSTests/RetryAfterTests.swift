import Testing

@testable import APNS

@Suite("What an answer's retry-after asks for")
struct RetryAfterTests {
  private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"

  @Test(
    "seconds, or a date that counts from the answer's own; a quarter of an hour at the most",
    arguments: [
      ("0", date, 0), ("1", nil, 1), ("120", nil, 120), ("900", nil, 900), ("901", nil, 900), ("99999999999", nil, 900),
      (String(repeating: "9", count: 4000), nil, 900), ("Sun, 06 Nov 1994 08:50:37 GMT", date, 60),
      ("Sun, 06 Nov 1994 08:49:36 GMT", date, 0), ("Fri, 31 Dec 9999 23:59:59 GMT", date, 900),
    ] as [(String, String?, Int)])
  func wait(_ text: String, _ date: String?, _ seconds: Int) {
    #expect(RetryAfter.wait(text, date: date) == .seconds(seconds))
  }

  @Test(
    "any other text asks for nothing",
    arguments: [
      (nil, date), ("", date), ("-1", date), ("+1", date), ("1.5", date), (" 1", date), ("soon", date), ("١", date),
      ("Sun, 06 Nov 1994 08:50:37 GMT", nil), ("Sun, 06 Nov 1994 08:50:37 GMT", "now"),
      ("Sun, 06 Nov 999999999999 08:50:37 GMT", date),
    ] as [(String?, String?)])
  func nothing(_ text: String?, _ date: String?) {
    #expect(RetryAfter.wait(text, date: date) == nil)
  }
}

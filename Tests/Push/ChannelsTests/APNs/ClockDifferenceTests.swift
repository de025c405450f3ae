import PushRules
import Testing

@testable import Channels

@Suite("The difference of the clocks")
struct ClockDifferenceTests {
  @Test(
    "a date of RFC 9110 is compared with this machine's clock",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777, 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_115_377, 3600),
      ("Thu, 01 Jan 1970 00:00:10 GMT", 0, -10), ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199, 0),
      ("Tue, 31 Dec 2999 00:00:00 GMT", 32_503_593_600, 0),
    ] as [(String, Int64, Int64)])
  func dates(date: String, now: Int64, seconds: Int64) {
    #expect(ClockDifference(date: date, now: now)?.seconds == seconds)
  }

  @Test(
    "any other text tells nothing",
    arguments: [
      "", "now", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
      "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37:00 GMT", "Sun, 30 Feb 2024 08:49:37 GMT",
      "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT", "Sun, 06 Nov 1994 08:49:xx GMT",
      "Sun, 06 Nov 1994  08:49:37 GMT", "Sun, 06 Nov 9223372036854775807 08:49:37 GMT",
      "Sun, 9223372036854775807 Nov 1994 08:49:37 GMT", "Sun, 06 Nov -9223372036854775808 08:49:37 GMT",
      "Sun, 06 Nov 1994 9223372036854775807:49:37 GMT", "Sun, 06 Nov 1994 08:-9223372036854775808:37 GMT",
    ])
  func refused(date: String) {
    #expect(ClockDifference(date: date, now: 0) == nil)
  }

  @Test("a date cut anywhere tells nothing")
  func cut() {
    let whole = "Sun, 06 Nov 1994 08:49:37 GMT"
    for length in 0..<whole.count { #expect(ClockDifference(date: String(whole.prefix(length)), now: 0) == nil) }
  }

  @Test("a minute is notable, in either direction", arguments: [(59, false), (60, true), (-59, false), (-60, true)])
  func notable(seconds: Int64, isNotable: Bool) {
    #expect(ClockDifference(date: "Thu, 01 Jan 1970 01:00:00 GMT", now: 3600 + seconds)?.isNotable == isNotable)
  }
}

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

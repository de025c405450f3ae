import HTTPTypes
import Testing

@testable import LanguageModels

@Suite("When to come again")
struct RetryAdviceTests {
  /// 1994-11-06T08:49:37Z
  private static let now = 784_111_777.0

  private static func wait(_ fields: [(String, String)]) -> Duration? {
    var all = HTTPFields()
    for (name, value) in fields { all[HTTPField.Name(name)!] = value }
    return RetryAdvice(status: 429, all, now: now)?.wait
  }

  @Test("a date counts from the answer's own date, else from now")
  func dates() {
    let then = "Sun, 06 Nov 1994 08:49:40 GMT"
    #expect(Self.wait([("retry-after", then)]) == .seconds(3))
    #expect(Self.wait([("retry-after", then), ("date", "Sun, 06 Nov 1994 08:49:38 GMT")]) == .seconds(2))
    #expect(Self.wait([("retry-after", then), ("date", "yesterday")]) == .seconds(3))
    #expect(Self.wait([("retry-after", "Sun, 06 Nov 1994 08:49:30 GMT")]) == .zero)
  }

  @Test(
    "what is no number and no date says nothing",
    arguments: ["", ".", "1e3", "inf", "nan", "+1", "-1", "1,5", "0x1", "١", "1.2.3"])
  func strangers(_ text: String) {
    #expect(Self.wait([("retry-after", text)]) == nil)
    #expect(Self.wait([("retry-after-ms", text)]) == nil)
  }

  @Test("a wait without an end is a long one")
  func endless() {
    #expect(Self.wait([("retry-after", String(repeating: "9", count: 300))]) == .seconds(31_536_000))
  }

  @Test(
    "dates are read in the one form that servers write",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
      ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199), ("Sunday, 06-Nov-94 08:49:37 GMT", nil),
      ("Sun Nov  6 08:49:37 1994", nil), ("Sun, 6 Nov 1994 08:49:37 GMT", nil),
      ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("Sun, 06 Nox 1994 08:49:37 GMT", nil), ("", nil),
    ])
  func fixedDates(_ text: String, _ seconds: Double?) {
    #expect(FixedDate(text)?.unixSeconds == seconds)
  }
}

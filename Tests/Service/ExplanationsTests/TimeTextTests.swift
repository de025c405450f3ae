import Testing

@testable import Explanations

@Suite("Times in words")
struct TimeTextTests {
  @Test(
    "a length of time is told by its largest units",
    arguments: [
      (0, "0 ms"), (99, "0 ms"), (100, "0.1 ms"), (1_000, "1 ms"), (9_999, "9.9 ms"), (10_000, "10 ms"),
      (999_999, "999 ms"), (1_000_000, "1 s"), (9_999_999, "9.9 s"), (10_000_000, "10 s"), (59_999_999, "59 s"),
      (60_000_000, "1 min"), (125_000_000, "2 min 5 s"), (3_599_999_999, "59 min 59 s"), (3_600_000_000, "1 h"),
      (12_000_000_000, "3 h 20 min"), (86_399_999_999, "23 h 59 min"), (86_400_000_000, "1 d"),
      (180_000_000_000, "2 d 2 h"), (-12_000_000, "12 s"), (Int64.min, "106751991 d 4 h"),
    ])
  func span(microseconds: Int64, text: String) {
    #expect(TimeText.span(microseconds) == text)
  }

  @Test(
    "a time since the commit has its milliseconds, however long it is",
    arguments: [
      (0, "0.0 ms"), (1_234, "1.2 ms"), (-300, "-0.3 ms"), (99_999_999, "99999.9 ms"), (100_000_000, "0:01:40.000"),
      (3_723_004_999, "1:02:03.004"), (-100_000_000, "-0:01:40.000"), (360_000_000_000, "100:00:00.000"),
    ])
  func offset(microseconds: Int64, text: String) {
    #expect(TimeText.offset(microseconds) == text)
  }

  @Test(
    "a moment is told in UTC, cut to the millisecond",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (1_790_000_000_007_999, "2026-09-21T14:13:20.007Z"),
      (1_790_000_000_999_999, "2026-09-21T14:13:20.999Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (-1_000_000, "1969-12-31T23:59:59.000Z"),
    ])
  func instant(microseconds: Int64, text: String) {
    #expect(TimeText.instant(microseconds) == text)
  }

  @Test("no number is too large to be told", arguments: [Int64.min, -1 << 61, 1 << 61, .max])
  func extremes(microseconds: Int64) {
    #expect(TimeText.instant(microseconds).hasSuffix("Z"))
    #expect(!TimeText.offset(microseconds).isEmpty)
  }

  @Test(
    "seconds of a record may be any number",
    arguments: [
      (0, "0 ms"), (-2.5, "2.5 s"), (1e308, "106751991 d 4 h"), (-1e308, "106751991 d 4 h"),
      (.infinity, "106751991 d 4 h"), (.nan, "106751991 d 4 h"), (9_223_372_036_854.776, "106751991 d 4 h"),
    ] as [(Double, String)])
  func seconds(seconds: Double, text: String) {
    #expect(TimeText.span(seconds: seconds) == text)
  }
}

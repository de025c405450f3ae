import PushRules
import Testing

@testable import Operations

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
      (0, "1970-01-01T00:00:00.000Z"), (1_790_000_000_999_999, "2026-09-21T14:13:20.999Z"),
      (-1, "1969-12-31T23:59:59.999Z"), (-1_000_000, "1969-12-31T23:59:59.000Z"),
      (951_782_399_999_000, "2000-02-28T23:59:59.999Z"), (951_782_400_007_000, "2000-02-29T00:00:00.007Z"),
      (4_107_542_399_000_000, "2100-02-28T23:59:59.000Z"), (4_107_542_400_000_000, "2100-03-01T00:00:00.000Z"),
    ] as [(Int64, String)])
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

  @Test(
    "a time of day is two digits, a colon and two digits",
    arguments: [
      ("00:00", 0), ("00:01", 1), ("09:59", 599), ("23:59", 1439), ("24:00", nil), ("23:60", nil), ("7:00", nil),
      ("07:0", nil), ("07:000", nil), ("", nil), ("0700", nil), ("07-00", nil), ("+7:00", nil), ("07:/0", nil),
      ("0:700", nil), ("07:0:", nil), ("٠٧:٠٠", nil),
    ])
  func timesOfDay(text: String, minutes: Int?) {
    #expect(TimeText.minutes(ofDay: text) == minutes)
    if let minutes { #expect(TimeText.timeOfDay(minutes: minutes) == text) }
  }

  @Test(
    "an instant of a day that there is is read in any zone and written in UTC",
    arguments: [
      ("2026-01-31T20:15:00Z", "2026-01-31T20:15:00.000Z"),
      ("2026-01-31T20:15:00.5Z", "2026-01-31T20:15:00.500Z"),
      ("2026-01-31T20:15:00.123456789Z", "2026-01-31T20:15:00.123Z"),
      ("2026-01-31T20:15:00+05:45", "2026-01-31T14:30:00.000Z"),
      ("2026-01-01T00:00:00.25+14:00", "2025-12-31T10:00:00.250Z"),
      ("2000-01-01T00:00:00-14:59", "2000-01-01T14:59:00.000Z"),
      ("2999-12-31T23:59:59Z", "2999-12-31T23:59:59.000Z"),
      ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"),
      ("2026-04-30T23:59:59.999+14:00", "2026-04-30T09:59:59.999Z"),
      ("2026-12-31T23:59:59-12:00", "2027-01-01T11:59:59.000Z"), ("2400-02-29T00:00:00Z", "2400-02-29T00:00:00.000Z"),
      ("1999-12-31T23:59:59Z", nil), ("3000-01-01T00:00:00Z", nil), ("2026-01-31", nil), ("2026-01-31T20:15Z", nil),
      ("2026-01-31T20:15:00", nil), ("2026-01-31 20:15:00Z", nil), ("2026-01-31t20:15:00z", nil),
      ("2026-01-31T24:00:00Z", nil), ("2026-01-31T20:15:60Z", nil), ("2026-01-31T20:15:00.Z", nil),
      ("2026-01-31T20:15:00+0545", nil), ("2026-01-31T20:15:00-15:00", nil), ("2026-01-31T20:15:00Zx", nil), ("", nil),
      // Days that there are not.
      ("2026-02-29T10:00:00Z", nil), ("2026-02-30T10:00:00Z", nil), ("2026-04-31T00:00:00Z", nil),
      ("2026-13-01T00:00:00Z", nil), ("2026-00-10T00:00:00Z", nil), ("2026-01-00T00:00:00Z", nil),
      ("2100-02-29T00:00:00Z", nil),
    ] as [(String, String?)])
  func instantsRead(text: String, expected: String?) {
    #expect(InstantText.microseconds(of: text).map(TimeText.instant) == expected)
  }
}

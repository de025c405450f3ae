import Testing

@testable import TemporalReferences

@Suite("Rules for ever")
struct PosixRuleTests {
  /// A rule, the first second of a change, and the offsets in hours before and from then on.
  typealias Edge = (rule: String, at: String, before: Double, after: Double)

  @Test(
    "an offset changes at one second",
    arguments: [
      // Central Europe: both at 01:00 UTC; the last Sunday is the fourth or the fifth.
      ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-03-29T01:00:00Z", 1, 2),
      ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-10-25T01:00:00Z", 2, 1),
      ("CET-1CEST,M3.5.0,M10.5.0/3", "2024-03-31T01:00:00Z", 1, 2),
      ("CET-1CEST,M3.5.0,M10.5.0/3", "2027-10-31T01:00:00Z", 2, 1),
      ("EST5EDT,M3.2.0,M11.1.0", "2026-03-08T07:00:00Z", -5, -4),
      ("EST5EDT,M3.2.0,M11.1.0", "2026-11-01T06:00:00Z", -4, -5),
      // The southern hemisphere, on over New Year.
      ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-04-04T16:00:00Z", 11, 10),
      ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-10-03T16:00:00Z", 10, 11),
      // Half an hour more.
      ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-04-04T15:00:00Z", 11, 10.5),
      ("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2026-10-03T15:30:00Z", 10.5, 11),
      // Winter as the exception: Dublin.
      ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-03-29T01:00:00Z", 0, 1),
      ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-10-25T01:00:00Z", 1, 0),
      // 24:00 is the next day's midnight, -1:00 is 23:00 of the day before, 50:00 is two days later.
      ("EET-2EEST,M4.5.5/0,M10.5.4/24", "2026-10-29T21:00:00Z", 3, 2),
      ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-03-29T01:00:00Z", -2, -1),
      ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2026-03-28T00:00:00Z", 2, 3),
      ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2026-10-23T23:00:00Z", 3, 2),
      // J60 is March 1 in every year, and 59 is February 29 where there is one.
      ("AAA0BBB,J60/0,J300/0", "2027-03-01T00:00:00Z", 0, 1), ("AAA0BBB,J60/0,J300/0", "2028-03-01T00:00:00Z", 0, 1),
      ("AAA0BBB,J59/0,J300/0", "2028-02-28T00:00:00Z", 0, 1), ("AAA0BBB,59/0,J300/0", "2027-03-01T00:00:00Z", 0, 1),
      ("AAA0BBB,59/0,J300/0", "2028-02-29T00:00:00Z", 0, 1), ("AAA0BBB,59/0,J300/0", "2100-03-01T00:00:00Z", 0, 1),
      ("AAA0BBB,60/0,J300/0", "2000-03-01T00:00:00Z", 0, 1), ("AAA0BBB,J60/0,J300/0", "2028-10-26T23:00:00Z", 1, 0),
      ("AAA0BBB,100/0,J365/0", "2028-12-30T23:00:00Z", 1, 0), ("AAA0BBB,100/0,365/0", "2028-12-30T23:00:00Z", 1, 0),
      ("AAA0BBB,100/0,365/0", "2027-12-31T23:00:00Z", 1, 0),
      // Week 5 is the last one, also of February; week 4 is not.
      ("AAA0BBB,M2.5.0/0,J300/0", "2032-02-29T00:00:00Z", 0, 1),
      ("AAA0BBB,M2.5.0/0,J300/0", "2026-02-22T00:00:00Z", 0, 1),
      ("AAA0BBB,M2.4.0/0,J300/0", "2032-02-22T00:00:00Z", 0, 1),
      ("AAA0BBB,M2.5.6/0,J300/0", "2026-02-28T00:00:00Z", 0, 1),
      ("AAA0BBB,M1.1.4/0,J300/0", "2026-01-01T00:00:00Z", 0, 1),
      ("AAA0BBB,M1.1.3/0,J300/0", "2026-01-07T00:00:00Z", 0, 1),
      ("AAA0BBB,J10,M12.5.4/0", "2026-12-30T23:00:00Z", 1, 0), ("AAA0BBB,J10,M12.5.5/0", "2026-12-24T23:00:00Z", 1, 0),
      // Across New Year: up to a week before or after the day.
      ("AAA0BBB,J1/-1,J100/0", "2025-12-31T23:00:00Z", 0, 1), ("AAA0BBB,0/-167,J100/0", "2025-12-25T01:00:00Z", 0, 1),
      ("AAA0BBB,J100/0,J365/167", "2027-01-06T22:00:00Z", 1, 0),
      ("AAA0BBB,J100/0,J365/25", "2027-01-01T00:00:00Z", 1, 0),
      ("AAA-14BBB,J1/0,J100/0", "2025-12-31T10:00:00Z", 14, 15),
      ("AAA12BBB,J100/0,J365/0", "2026-12-31T11:00:00Z", -11, -12),
      // Both are in the January after their year.
      ("AAA0BBB,J365/100,J365/167", "2027-01-04T04:00:00Z", 0, 1),
      ("AAA0BBB,J365/100,J365/167", "2027-01-06T22:00:00Z", 1, 0),
      ("AAA0BBB,J365/167:30,J365/160", "2027-01-06T15:00:00Z", 1, 0),
    ] as [Edge])
  func edges(edge: Edge) throws {
    let rule = try #require(PosixRule(edge.rule.utf8))
    let at = try unix(edge.at)
    #expect(rule.offset(at: at - 1) == Int(edge.before * 3600) && rule.offset(at: at) == Int(edge.after * 3600))
    let change = ZoneChange(at: at, offset: Int(edge.after * 3600))
    #expect(rule.nextChange(after: at - 1) == change && rule.nextChange(after: at - 86_400) == change)
    let later = try #require(rule.nextChange(after: at))
    #expect(later.at > at && later.offset == Int(edge.before * 3600))
  }

  @Test(
    "New Year changes nothing that a rule does not change",
    arguments: [
      ("CET-1CEST,M3.5.0,M10.5.0/3", 3600), ("AEST-10AEDT,M10.1.0,M4.1.0/3", 39_600), ("IST-1GMT0,M10.5.0,M3.5.0/1", 0),
      ("AAA0BBB,J364/0,J3/0", 3600), ("AAA0BBB,J4/0,J362/0", 0),
    ])
  func newYear(text: String, offset: Int) throws {
    let rule = try #require(PosixRule(text.utf8))
    for year in 1970...2101 {
      let newYear = try unix("\(year)-01-01T00:00:00Z")
      for seconds in [-50_000, -1, 0, 1, 50_000] as [Int64] {
        #expect(rule.offset(at: newYear + seconds) == offset)
      }
    }
  }

  @Test(
    "a rule that never changes has no next change",
    arguments: [
      // All year: it ends when the next one begins, or later.
      ("EST5EDT,0/0,J365/25", -14_400), ("XXX3EDT4,0/0,J365/23", -14_400), ("AAA0BBB,J1/0,J365/167", 3600),
      // Never: it ends when it begins.
      ("AAA0BBB,J60/0,J60/1", 0), ("AAA0BBB,M3.5.0,M3.5.0/3", 0),
      // Without a difference.
      ("AAA0BBB0,M3.5.0,M10.5.0", 0), ("UTC0", 0),
    ])
  func unchanging(text: String, offset: Int) throws {
    let rule = try #require(PosixRule(text.utf8))
    for seconds in [0, 1_767_225_599, 1_767_225_600, 1_767_312_000, .min, .max] as [Int64] {
      #expect(rule.offset(at: seconds) == offset && rule.nextChange(after: seconds) == nil)
    }
  }

  @Test(
    "a change that comes in some years only is found",
    arguments: [
      // The last Sunday of February is not the fourth.
      ("AAA0BBB,M2.4.0/0,M2.5.0/1", "2026-01-01T00:00:00Z", "2032-02-22T00:00:00Z"),
      ("AAA0BBB,M2.4.0/0,M2.5.0/1", "2088-12-01T00:00:00Z", "2128-02-22T00:00:00Z"),
      // There is a February 29.
      ("AAA0BBB,59/0,J60/1", "2096-03-01T00:00:00Z", "2104-02-29T00:00:00Z"),
    ])
  func rare(text: String, after: String, at: String) throws {
    let rule = try #require(PosixRule(text.utf8))
    #expect(rule.nextChange(after: try unix(after)) == ZoneChange(at: try unix(at), offset: 3600))
  }

  @Test(
    "the same is said 400 years earlier and later",
    arguments: ["CET-1CEST,M3.5.0,M10.5.0/3", "AEST-10AEDT,M10.1.0,M4.1.0/3", "AAA0BBB,59/0,365/167"])
  func cycle(text: String) throws {
    let rule = try #require(PosixRule(text.utf8))
    let cycle: Int64 = 400 * 31_556_952
    for moment in stride(from: -1, to: 400 * 31_556_952, by: 86_400 * 97) as StrideTo<Int64> {
      let change = try #require(rule.nextChange(after: moment))
      for shift in [-3 * cycle, -cycle, cycle, 700_000_000 * cycle, -700_000_000 * cycle] {
        #expect(rule.offset(at: moment + shift) == rule.offset(at: moment))
        #expect(rule.nextChange(after: moment + shift) == ZoneChange(at: change.at + shift, offset: change.offset))
      }
    }
  }

  @Test("the first and the last second have an offset, and there is no change after the last")
  func extremes() throws {
    let rule = try #require(PosixRule("CET-1CEST,M3.5.0,M10.5.0/3".utf8))
    for seconds in [.min, .min + 1, .max - 1, .max] as [Int64] {
      #expect([3600, 7200].contains(rule.offset(at: seconds)))
    }
    #expect(try #require(rule.nextChange(after: .min)).at < .min + 366 * 86_400)
    #expect(rule.nextChange(after: .max) == nil && rule.nextChange(after: .max - 86_400) == nil)
  }
}

@Suite("POSIX TZ strings")
struct PosixRuleTextTests {
  @Test(
    "one offset, whose sign is that of POSIX: west is positive",
    arguments: [
      ("UTC0", 0), ("GMT-0", 0), ("ABC+0", 0), ("EST5", -18_000), ("EST+5", -18_000), ("JST-9", 32_400),
      ("IST-5:30", 19_800), ("<+0545>-5:45", 20_700), ("<-03>3", 10_800 * -1), ("<+14>-14", 50_400), ("<-00>0", 0),
      ("LMT-0:00:01", 1), ("LMT0:00:01", -1), ("ABC24", -86_400), ("ABC24:59:59", -89_999), ("ABC-24:59:59", 89_999),
      ("ABC05:03:09", -18_189), ("ABC5:3:9", -18_189), ("ABC005", -18_000), ("ABCDEFGHIJ1", -3_600), ("abc1", -3_600),
      ("<A+1>1", -3_600), ("<abc>1", -3_600),
    ])
  func fixed(text: String, offset: Int) {
    #expect(PosixRule(text.utf8) == PosixRule(standardOffset: offset, daylight: nil))
  }

  @Test(
    "two offsets; the second is one hour more if the text does not say it",
    arguments: [
      ("EST5EDT,0,1", -18_000, -14_400), ("EST5EDT4,0,1", -18_000, -14_400), ("EST5EDT+4,0,1", -18_000, -14_400),
      ("IST-1GMT0,0,1", 3_600, 0), ("AAA0BBB,0,1", 0, 3_600), ("AAA0BBB0,0,1", 0, 0),
      ("<+1030>-10:30<+11>-11,0,1", 37_800, 39_600), ("<+00>0<+02>-2,0,1", 0, 7_200),
      ("AAA-24:59:59BBB,0,1", 89_999, 93_599), ("AAA24:59:59BBB24:59:59,0,1", -89_999, -89_999),
    ])
  func offsets(text: String, standard: Int, daylight: Int) throws {
    let rule = try #require(PosixRule(text.utf8))
    #expect(rule.standardOffset == standard && rule.daylight?.offset == daylight)
  }

  @Test(
    "days have three forms",
    arguments: [
      ("J1", .julian(1)), ("J60", .julian(60)), ("J365", .julian(365)), ("J007", .julian(7)),
      ("0", .zeroBased(0)), ("59", .zeroBased(59)), ("365", .zeroBased(365)), ("000", .zeroBased(0)),
      ("M1.1.0", .weekday(month: 1, week: 1, day: 0)), ("M12.5.6", .weekday(month: 12, week: 5, day: 6)),
      ("M03.2.0", .weekday(month: 3, week: 2, day: 0)), ("M10.4.4", .weekday(month: 10, week: 4, day: 4)),
    ] as [(String, YearMoment.Day)])
  func days(text: String, day: YearMoment.Day) {
    let expected = DaylightTime(
      offset: 3600, start: YearMoment(day: day, secondsOfDay: 7200), end: YearMoment(day: day, secondsOfDay: 3600))
    #expect(PosixRule("AAA0BBB,\(text),\(text)".utf8)?.daylight == expected)
  }

  @Test(
    "times are 02:00 by themselves, and -167:59:59 to 167:59:59",
    arguments: [
      ("", 7_200), ("/2", 7_200), ("/+2", 7_200), ("/0", 0), ("/-0", 0), ("/00", 0), ("/3:30", 12_600), ("/24", 86_400),
      ("/-1", -3_600), ("/-2:30", -9_000), ("/25", 90_000), ("/1:02:03", 3_723), ("/0:00:01", 1), ("/-0:00:01", -1),
      ("/23:59:59", 86_399), ("/167", 601_200), ("/167:59:59", 604_799), ("/-167:59:59", -604_799), ("/002:0:0", 7_200),
    ])
  func times(text: String, seconds: Int) {
    let daylight = PosixRule("AAA0BBB-2,J1\(text),J2\(text)".utf8)?.daylight
    #expect(daylight?.start == YearMoment(day: .julian(1), secondsOfDay: seconds))
    #expect(daylight?.end == YearMoment(day: .julian(2), secondsOfDay: seconds - 7200))
  }

  @Test("the start is told by the clock of standard time, and the end by the other one")
  func clocks() throws {
    let daylight = try #require(PosixRule("NST3:30NDT,M3.2.0,M11.1.0".utf8)?.daylight)
    #expect(daylight.start == YearMoment(day: .weekday(month: 3, week: 2, day: 0), secondsOfDay: 7200 + 12_600))
    #expect(daylight.end == YearMoment(day: .weekday(month: 11, week: 1, day: 0), secondsOfDay: 7200 + 9000))
  }

  @Test(
    "offsets and names of another form are refused",
    arguments: [
      "", "UTC", "U0", "UT0", "0", "5EST", "+5", ",0,1", ":UTC0", " UTC0", "UTC0 ", "UTC 0", "UTC0\n", "UTC0\0",
      "UTC--1", "UTC-+1", "UTC+", "UTC-", "UTC25", "UTC-25", "UTC167", "UTC0001", "UTC1:", "UTC1:60", "UTC1:0:60",
      "UTC1:0:", "UTC1:0:0:0", "UTC1:-1", "UTC1.5", "UTC1:0000", "UTC9223372036854775808", "<+03-3", "+03>-3", "<>0",
      "<1>0", "<+1>0", "<+03>", "<+03>>-3", "<<+03>-3", "<+ 3>-3", "<+0\u{0}3>-3", "<A_C>0", "<Ä+3>0", "ÄÖÜ0",
      "AB10", "A1C0", "A-C0", "EST٥", "UTC٠", "Europe/Berlin", "posixrules",
    ])
  func refusedNames(text: String) {
    #expect(PosixRule(text.utf8) == nil)
  }

  @Test(
    "daylight saving time needs a start and an end of the right form",
    arguments: [
      "EST5EDT", "EST5EDT4", "EST5EDT,", "EST5EDT,,", "EST5EDT,0", "EST5EDT,0,", "EST5EDT,,0", "EST5EDT,0,1,",
      "EST5EDT,0,1,2", "EST5EDT;0,1", "EST5EDT 0,1", "EST5ED,0,1", "EST5<ED>,0,1", "EST5,0,1", "EST5EDT25,0,1",
      "EST5EDT-25,0,1", "EST5EDT5:60,0,1", "EST5EDT4:,0,1", "EST5EDT,366,1", "EST5EDT,0,366", "EST5EDT,-1,1",
      "EST5EDT,+1,1", "EST5EDT,J0,J1", "EST5EDT,J366,J1", "EST5EDT,J,J1", "EST5EDT,j1,j2", "EST5EDT,JJ1,J2",
      "EST5EDT,J-1,J2", "EST5EDT,0000,1", "EST5EDT,M0.1.0,1", "EST5EDT,M13.1.0,1", "EST5EDT,M1.0.0,1",
      "EST5EDT,M1.6.0,1", "EST5EDT,M1.1.7,1", "EST5EDT,M1.1,1", "EST5EDT,M1.1.,1", "EST5EDT,M1,1", "EST5EDT,M,1",
      "EST5EDT,M.1.0,1", "EST5EDT,M1..0,1", "EST5EDT,M1-1-0,1", "EST5EDT,M1.1.0.0,1", "EST5EDT,m1.1.0,1",
      "EST5EDT,M1.1.-1,1", "EST5EDT,0/,1", "EST5EDT,0/168,1", "EST5EDT,0/-168,1", "EST5EDT,0/1:60,1",
      "EST5EDT,0/1:0:60,1", "EST5EDT,0/1:,1", "EST5EDT,0/--1,1", "EST5EDT,0//1,1", "EST5EDT,0/1/1,1", "EST5EDT,0/2h,1",
      "EST5EDT,0/1.5,1", "EST5EDT,0/,1/", "EST5EDT,0,1/168", "EST5EDT,0,1\n", "EST5EDT,0,1 ", "EST5EDT,M3.2.0,M11.1.0X",
    ])
  func refusedRules(text: String) {
    #expect(PosixRule(text.utf8) == nil)
  }

  @Test("a text is refused at every cut but where a shorter rule ends")
  func cuts() {
    let text = "<+1030>-10:30<+11>-11,M10.1.0/-1:30,M4.1.0/2:00"
    let complete = (1...text.utf8.count).filter { PosixRule(text.utf8.prefix($0)) != nil }
    let ends = [
      "<+1030>-1", "<+1030>-10", "<+1030>-10:3", "<+1030>-10:30", "<+1030>-10:30<+11>-11,M10.1.0/-1:30,M4.1.0",
      "<+1030>-10:30<+11>-11,M10.1.0/-1:30,M4.1.0/2", "<+1030>-10:30<+11>-11,M10.1.0/-1:30,M4.1.0/2:0", text,
    ]
    #expect(complete == ends.map(\.utf8.count))
  }
}

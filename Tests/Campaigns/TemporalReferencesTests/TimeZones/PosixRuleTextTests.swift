import Testing

@testable import TemporalReferences

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

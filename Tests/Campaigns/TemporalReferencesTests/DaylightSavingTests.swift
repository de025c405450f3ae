import Foundation
import TemporalReferences
import Testing

@Suite("Days on which clocks change")
struct DaylightSavingTests {
  @Test(
    "a day is as long as its zone makes it",
    arguments: [
      ("2026-03-07T12:00 America/New_York mdy", 23.0), ("2026-10-31T12:00 America/New_York mdy", 25),
      ("2026-03-11T12:00 America/New_York mdy", 24), ("2026-03-28T12:00 Europe/Berlin dmy", 23),
      ("2026-10-24T12:00 Europe/Berlin dmy", 25), ("2026-10-03T12:00 Australia/Lord_Howe dmy", 23.5),
      ("2026-04-04T12:00 Australia/Lord_Howe dmy", 24.5), ("2026-03-28T12:00 Asia/Kathmandu dmy", 24),
      ("2018-11-03T12:00 America/Sao_Paulo dmy", 23), ("2018-02-16T12:00 America/Sao_Paulo dmy", 25),
      ("2011-12-28T12:00 Pacific/Apia dmy", 24),
    ])
  func dayLength(setting: String, hours: Double) throws {
    let reference = try #require(Setting(setting).references(in: "exam tomorrow").first)
    #expect(reference.end.timeIntervalSince(reference.start) == hours * 3600)
  }

  @Test("a day that its zone never had is empty and begins with the next one")
  func skippedDay() throws {
    let setting = try Setting("2011-12-28T12:00 Pacific/Apia dmy")
    let skipped = try #require(setting.references(in: "exam in two days").first)
    let next = try #require(setting.references(in: "exam in three days").first)
    #expect(skipped.start == skipped.end)
    #expect(skipped.end == next.start)
  }

  @Test(
    "a time that clocks skip has the offset before the change, one shown twice is the first",
    arguments: [
      ("2026-03-07T12:00 America/New_York mdy", "2:30am", "2026-03-08T07:30Z"),
      ("2026-10-31T12:00 America/New_York mdy", "1:30am", "2026-11-01T05:30Z"),
      ("2026-03-28T12:00 Europe/Berlin dmy", "02:00", "2026-03-29T01:00Z"),
      ("2026-10-24T12:00 Europe/Berlin dmy", "02:59", "2026-10-25T00:59Z"),
      ("2026-10-24T12:00 Europe/Berlin dmy", "03:00", "2026-10-25T02:00Z"),
      ("2026-10-03T12:00 Australia/Lord_Howe dmy", "02:29", "2026-10-03T15:59Z"),
      ("2026-10-03T12:00 Australia/Lord_Howe dmy", "02:30", "2026-10-03T15:30Z"),
      ("2026-04-04T12:00 Australia/Lord_Howe dmy", "01:30", "2026-04-04T14:30Z"),
      ("2026-04-04T12:00 Australia/Lord_Howe dmy", "02:00", "2026-04-04T15:30Z"),
      ("2018-11-03T12:00 America/Sao_Paulo dmy", "00:30", "2018-11-04T03:30Z"),
      ("2018-02-16T12:00 America/Sao_Paulo dmy", "23:30", "2018-02-18T01:30Z"),
    ])
  func changedTimes(setting: String, time: String, instant: String) throws {
    let setting = try Setting(setting)
    let reference = try #require(setting.references(in: "exam tomorrow at \(time)").first)
    #expect(try reference.start == CivilText.instant(instant, in: setting.zone))
  }
}

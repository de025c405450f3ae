import Testing

@testable import TemporalReferences

@Suite("Civil days")
struct CivilDayTests {
  @Test(
    "days are counted from the beginning of 2026, through every New Year",
    arguments: [
      ("2026-01-01", 1), ("2026-02-28", 59), ("2026-03-01", 60), ("2026-12-31", 365), ("2027-01-01", 366),
      ("2027-12-31", 730), ("2028-01-01", 731), ("2028-02-29", 790), ("2028-12-31", 1_096), ("2029-01-01", 1_097),
      ("2025-12-31", 0), ("2025-01-01", -364), ("2024-12-31", -365), ("2024-02-29", -671), ("2000-02-29", -9_437),
      ("1970-01-01", -20_453), ("0001-01-01", -739_615), ("9999-12-31", 2_912_443),
    ])
  func numbers(text: String, number: Int) throws {
    #expect(try #require(CivilDay(text)).dayNumber == number)
    #expect(CivilDay(number: number + 20_453).description == text)
  }

  @Test(
    "texts that are no day are refused",
    arguments: [
      "", "2026", "2026-1-1", "2026-01-1", "26-01-01", "02026-01-01", "2026-01-01 ", " 2026-01-01", "2026/01/01",
      "20260101", "2026-00-01", "2026-13-01", "2026-01-00", "2026-01-32", "2026-04-31", "2026-02-29", "2028-02-30",
      "1900-02-29", "2100-02-29", "0000-01-01", "-001-01-01", "2026--1-01", "2026-01-01-", "2026-01-01T00:00",
      "٢٠٢٦-٠١-٠١", "2026-01-0\u{0}", "today", "10000-01-01",
    ])
  func refused(text: String) {
    #expect(CivilDay(text) == nil)
  }

  @Test(
    "each day is the next of the one before, and is read as it is written",
    arguments: [
      1, 4, 100, 400, 1899, 1900, 1999, 2000, 2026, 2027, 2028, 2099, 2100, 9998,
    ])
  func succession(year: Int) throws {
    let name = String(String(10_000 + year).dropFirst())
    var number = try #require(CivilDay(name + "-01-01")).dayNumber
    let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    for (month, length) in zip(1..., [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]) {
      for day in 1...length {
        let text = name + "-" + String(String(100 + month).dropFirst()) + "-" + String(String(100 + day).dropFirst())
        #expect(CivilDay(text)?.dayNumber == number && CivilDay(number: number + 20_453).description == text)
        number += 1
      }
    }
    let next = String(String(10_001 + year).dropFirst())
    #expect(CivilDay(next + "-01-01")?.dayNumber == number)
  }

  @Test("every day of four centuries is the next of the one before and knows its month")
  func months() throws {
    var number = try #require(CivilDay(year: 1899, month: 12, day: 31)).number
    for year in 1900...2300 where year % 7 == 0 || year % 100 == 0 || year == 1900 {
      let first = try #require(CivilDay(year: year, month: 1, day: 1))
      number = first.number
      for month in 1...12 {
        #expect(CivilDay(number: number).firstOfMonth(later: 0).number == number)
        let start = first.firstOfMonth(later: month - 1).number
        while let day = CivilDay(year: year, month: month, day: number - start + 1) {
          #expect(day.number == number && day.month == month && day.year == year)
          number += 1
        }
      }
      #expect(first.firstOfMonth(later: 12).number == number)
    }
  }

  @Test("weeks begin on Monday", arguments: [(20_523, 3), (20_521, 1), (20_527, 7), (0, 4), (-4, 7), (-3, 1)])
  func weekdays(number: Int, weekday: Int) {
    #expect(CivilDay(number: number).weekday == weekday)
    #expect(CivilDay(number: number).monday.weekday == 1)
  }
}

import Foundation
import Testing

@testable import TemporalReferences

@Suite("Civil days")
struct CivilDayTests {
  @Test(
    "days are counted from 1970",
    arguments: [
      (1970, 1, 1, 0), (1969, 12, 31, -1), (2000, 2, 29, 11_016), (2000, 3, 1, 11_017), (2026, 3, 11, 20_523),
      (1600, 1, 1, -135_140),
    ])
  func numbers(year: Int, month: Int, day: Int, number: Int) {
    #expect(CivilDay(year: year, month: month, day: day)?.number == number)
  }

  @Test(
    "a month has no other days than its own",
    arguments: [
      (2026, 2, 29), (1900, 2, 29), (2026, 4, 31), (2026, 1, 32), (2026, 1, 0), (2026, 0, 1), (2026, 13, 1),
    ])
  func impossible(year: Int, month: Int, day: Int) {
    #expect(CivilDay(year: year, month: month, day: day) == nil)
  }

  @Test("every day of four centuries is the next of the one before and knows its month")
  func succession() throws {
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

import FoundationEssentials
import Testing

@testable import Campaigns

private func words(
  at moment: Double, start: Double, lasting length: Double = 0, isDayOnly: Bool = false,
  in localTime: LocalTime = .utc
) -> String {
  let midnight = noon.addingTimeInterval(-12 * hour)
  let begin = midnight.addingTimeInterval(start * hour)
  let span = EventSpan(start: begin, end: begin.addingTimeInterval(length * hour), isDayOnly: isDayOnly)
  return EventWording(of: span, at: midnight.addingTimeInterval(moment * hour), in: localTime).words
}

@Suite("When an event is, in words")
struct EventWordingTests {
  @Test(
    "a time of day is told by the user's day and its part",
    arguments: [
      (10.0, 11.99, "this morning"), (10, 12, "this afternoon"), (10, 17.99, "this afternoon"), (10, 18, "tonight"),
      (10, 23.99, "tonight"), (10, 24, "tonight"), (10, 28.99, "tonight"), (10, 29, "tomorrow morning"),
      (10, 34, "tomorrow morning"), (13, 36, "tomorrow afternoon"), (20, 42, "tomorrow evening"),
      (23, 25, "tonight"), (2, 3, "tonight"), (2, 5, "this morning"), (2, 20, "tonight"),
    ])
  func times(moment: Double, start: Double, expected: String) {
    #expect(words(at: moment, start: start) == expected)
    #expect(words(at: moment, start: start, lasting: 1) == expected)
  }

  @Test(
    "a day is today or tomorrow, whatever the hour",
    arguments: [
      (0.0, 0.0, "today"), (10, 0, "today"), (23.99, 0, "today"), (0.01, 24, "tomorrow"), (23.99, 24, "tomorrow"),
    ])
  func days(moment: Double, start: Double, expected: String) {
    #expect(words(at: moment, start: start, lasting: 24, isDayOnly: true) == expected)
  }

  @Test("more than a day is told vaguely", arguments: [(0.0, "these days"), (20, "in the coming days")])
  func periods(start: Double, expected: String) {
    #expect(words(at: 10, start: start, lasting: 168, isDayOnly: true) == expected)
    #expect(words(at: 10, start: start, lasting: 25.01) == expected)
  }

  @Test(
    "the day is that of the user's clock",
    arguments: [
      (0, "tonight"), (5 * 3_600, "tomorrow morning"), (-9 * 3_600, "this afternoon"), (3 * 3_600, "tonight"),
    ])
  func offsets(offset: Int, expected: String) {
    // 10:00 and 24:30 UTC; five hours east the latter is 5:30 of the next day.
    #expect(words(at: 10, start: 24.5, in: LocalTime(secondsFromUTC: offset)) == expected)
  }

  @Test("a change of the offset counts from its instant")
  func change() {
    let midnight = noon.addingTimeInterval(12 * hour)
    let springs = LocalTime(secondsFromUTC: 3_600, change: .init(at: midnight, to: 7_200))
    #expect(springs.hour(of: midnight.addingTimeInterval(-1)) == 0)
    #expect(springs.hour(of: midnight) == 2)
    #expect(words(at: 10, start: 27, in: springs) == "tomorrow morning")
    #expect(words(at: 10, start: 26.99, in: springs) == "tonight")
  }

  @Test(
    "days are counted from 1970 and also before",
    arguments: [(-1.0, -1, 23), (0, 0, 0), (86_399.5, 0, 23), (86_400, 1, 0), (-86_400, -1, 0), (-86_401, -2, 23)])
  func civil(seconds: Double, day: Int, hour: Int) {
    let instant = Date(timeIntervalSince1970: seconds)
    #expect(LocalTime.utc.day(of: instant) == day)
    #expect(LocalTime.utc.hour(of: instant) == hour)
  }

  @Test("the grain follows from the length and from what was named")
  func grains() {
    #expect(Sample.span(0).grain == .instant)
    #expect(Sample.span(0, lasting: hour).grain == .partOfDay)
    #expect(Sample.span(0, lasting: day, isDayOnly: true).grain == .day)
    #expect(Sample.span(0, lasting: 25 * hour, isDayOnly: true).grain == .day)
    #expect(Sample.span(0, lasting: 25 * hour + 1, isDayOnly: true).grain == .period)
    #expect(Sample.span(0, lasting: -5).grain == .instant)
  }
}

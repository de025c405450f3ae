internal import Foundation

/// Turns phrases into times, as seen from when and where a message was written.
struct PhraseResolver {
  let writtenAt: Date
  let clock: ZoneClock
  /// The message's civil day.
  let today: CivilDay
  /// The message's civil time, in minutes from midnight.
  let now: Int

  init(writtenAt: Date, zone: TimeZone) {
    self.writtenAt = writtenAt
    clock = ZoneClock(zone: zone)
    (today, now) = clock.civilTime(at: writtenAt)
  }

  /// When a phrase is; nil when there is no such day.
  /// - Parameter isPast: whether it is told as over, so that what names no certain day is the latest and not the next.
  func time(of phrase: TemporalPhrase, isPast: Bool) -> ResolvedTime? {
    guard let day = phrase.day else { return timeWithoutDay(phrase, isPast: isPast) }
    if case .elapsed(let minutes) = day {
      let instant = writtenAt.addingTimeInterval(Double(minutes) * 60)
      return ResolvedTime(start: instant, end: instant, grain: .minute)
    }
    guard let resolved = days(of: day, isPast: isPast) else { return nil }
    guard resolved.grain == .day else { return wholeDays(resolved) }
    return timeOfDay(phrase, on: resolved.days.lowerBound, isPast: isPast) ?? wholeDays(resolved)
  }

  /// From the first day's beginning to the last day's end.
  private func wholeDays(_ resolved: ResolvedDays) -> ResolvedTime {
    let (start, end) = (resolved.days.lowerBound, resolved.days.upperBound)
    return ResolvedTime(start: clock.instant(start), end: clock.instant(end), grain: resolved.grain)
  }

  /// The clock time or part of a known day; nil when the phrase has neither.
  func timeOfDay(_ phrase: TemporalPhrase, on day: CivilDay, isPast: Bool) -> ResolvedTime? {
    if let expression = phrase.clock {
      let floor = day == today && !isPast ? now : nil
      let minutes = minutes(of: expression, in: phrase.part, after: floor)
      return stretch(day, minutes.start, minutes.end ?? minutes.start, .minute)
    }
    guard let part = phrase.part else { return nil }
    return stretch(day, part.minutes.lowerBound, part.minutes.upperBound, .dayPart)
  }

  private func stretch(_ day: CivilDay, _ start: Int, _ end: Int, _ grain: TemporalGrain) -> ResolvedTime {
    let first = clock.instant(day, minutes: start)
    // A time that clocks skip is later than one soon after it: 2:30 is 3:30 where 3:15 is itself.
    return ResolvedTime(start: first, end: max(first, clock.instant(day, minutes: end)), grain: grain)
  }
}

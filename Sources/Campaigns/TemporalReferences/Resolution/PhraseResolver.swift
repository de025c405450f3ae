internal import Foundation

/// When a phrase is.
struct ResolvedTime: Equatable {
  let start: Date
  /// Exclusive, or equal to ``start`` for an instant.
  let end: Date
  let grain: TemporalGrain
}

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

extension PhraseResolver {
  /// The earliest hour that is of the morning when only a number is said: few appointments are before seven, so 1 to 6
  /// are of the afternoon.
  private static let morningBegins = 7 * 60
  /// Until which hour of the evening a number may be meant that would also be of the morning. Nine in the evening is
  /// common, ten and eleven are not.
  private static let eveningEnds = 22 * 60

  /// A time without a day: the next such time, or the latest if it is told as past.
  func timeWithoutDay(_ phrase: TemporalPhrase, isPast: Bool) -> ResolvedTime? {
    let minutes: Int
    if let clock = phrase.clock {
      minutes = self.minutes(of: clock, in: phrase.part, after: isPast ? nil : now).start
    } else if let part = phrase.part {
      // A part that is half over is seldom spoken of as coming.
      minutes = (part.minutes.lowerBound + part.minutes.upperBound) / 2
    } else {
      return nil
    }
    let day = isPast ? today + (minutes > now ? -1 : 0) : today + (minutes <= now ? 1 : 0)
    return timeOfDay(phrase, on: day, isPast: isPast)
  }

  /// The ends of a clock expression, in minutes from the day's midnight, which may be of the next day.
  /// - Parameter floor: the time after which an ambiguous hour is looked for first; nil when any will do.
  func minutes(
    of expression: ClockExpression, in part: DayPart?, after floor: Int?
  ) -> (start: Int, end: Int?) {
    guard let end = expression.end else { return (minutes(of: expression.start, in: part, after: floor), nil) }
    if expression.start.isAmbiguous, !end.isAmbiguous {
      let (early, late) = (expression.start.minutes, expression.start.minutes + 720)
      if late < end.minutes { return (late, end.minutes) }
      // Neither half of the day begins before it: "10-2am" is a night's.
      return early < end.minutes ? (early, end.minutes) : (late, end.minutes + 1440)
    }
    let start = minutes(of: expression.start, in: part, after: floor)
    return (start, firstReading(of: end, after: start))
  }

  private func minutes(of reading: ClockReading, in part: DayPart?, after floor: Int?) -> Int {
    guard reading.isAmbiguous else { return reading.minutes }
    if let part { return part.reading(of: reading.minutes) }
    let early = reading.minutes
    let late = early + 720
    guard early >= Self.morningBegins else { return late }
    if let floor, early <= floor, floor < late, late < Self.eveningEnds { return late }
    return early
  }

  private func firstReading(of reading: ClockReading, after start: Int) -> Int {
    let step = reading.isAmbiguous ? 720 : 1440
    var minutes = reading.minutes
    while minutes <= start { minutes += step }
    return minutes
  }
}

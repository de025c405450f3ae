internal import FoundationEssentials

struct ResolvedTime: Equatable {
  let start: Date
  /// Exclusive, or equal to ``start`` for an instant.
  let end: Date
  let grain: TemporalGrain
  var doubt: ReadingDoubt?

  /// The only place where an end is set: in a gap of the clock an earlier local time may be a later instant, as 2:30
  /// becomes 3:30 while 3:15 stays.
  init(start: Date, end: Date, grain: TemporalGrain) {
    self.start = start
    self.end = max(start, end)
    self.grain = grain
  }
}

/// Resolves phrases to times, relative to when and where a message was written.
struct PhraseResolver {
  let writtenAt: Date
  let clock: ZoneClock
  /// The message's civil day.
  let today: CivilDay
  /// The message's civil time, in minutes from midnight.
  let now: Int

  init(writtenAt: Date, zone: ZoneRules) {
    self.writtenAt = writtenAt
    clock = ZoneClock(zone: zone)
    (today, now) = clock.civilTime(at: writtenAt)
  }

  /// The time of a phrase; nil when the day does not exist.
  /// - Parameter isPast: whether the text speaks of the past. Then an uncertain day is the latest one, not the next.
  func time(of phrase: TemporalPhrase, isPast: Bool) -> ResolvedTime? {
    guard let day = phrase.day else { return timeWithoutDay(phrase, isPast: isPast) }
    if case .elapsed(let minutes) = day {
      let instant = writtenAt.addingTimeInterval(Double(minutes) * 60)
      return ResolvedTime(start: instant, end: instant, grain: .minute)
    }
    guard let resolved = days(of: day, isPast: isPast) else { return nil }
    var time = wholeDays(resolved)
    if resolved.grain == .day { time = timeOfDay(phrase, on: resolved.days.lowerBound, isPast: isPast) ?? time }
    time.doubt = resolved.doubt
    return time
  }

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
    ResolvedTime(start: clock.instant(day, minutes: start), end: clock.instant(day, minutes: end), grain: grain)
  }
}

extension PhraseResolver {
  /// The hours of a night in which people still call the day that has begun tomorrow.
  private static let nightEnds = 4 * 60

  func isToday(_ instant: Date) -> Bool { clock.civilTime(at: instant).day == today }

  var isAfterMidnight: Bool { now < Self.nightEnds }

  /// Whether a bare hour of this morning is over, so that it is one of the evening or the text speaks of the past.
  func isOver(_ clock: ClockExpression?) -> Bool {
    guard let clock, clock.start.isAmbiguous else { return false }
    return clock.start.minutes >= Self.morningBegins && clock.start.minutes <= now
  }

  /// The earliest bare hour that means the morning. Few appointments are before seven, so 1 to 6 mean the afternoon.
  private static let morningBegins = 7 * 60
  /// The end of the evening hours that a bare number may mean. Nine in the evening is common; ten and eleven are not.
  private static let eveningEnds = 22 * 60

  /// A time without a day: the next such time, or the latest one in the past.
  func timeWithoutDay(_ phrase: TemporalPhrase, isPast: Bool) -> ResolvedTime? {
    let minutes: Int
    if let clock = phrase.clock {
      minutes = self.minutes(of: clock, in: phrase.part, after: isPast ? nil : now).start
    } else if let part = phrase.part {
      // People rarely speak of a part that is half over as upcoming.
      minutes = (part.minutes.lowerBound + part.minutes.upperBound) / 2
    } else {
      return nil
    }
    let day = isPast ? today + (minutes > now ? -1 : 0) : today + (minutes <= now ? 1 : 0)
    return timeOfDay(phrase, on: day, isPast: isPast)
  }

  /// The ends of a clock expression, in minutes from the day's midnight. They may be on the next day.
  /// - Parameter floor: prefer a reading of an ambiguous hour after this time; nil for no preference.
  func minutes(
    of expression: ClockExpression, in part: DayPart?, after floor: Int?
  ) -> (start: Int, end: Int?) {
    guard let end = expression.end else { return (minutes(of: expression.start, in: part, after: floor), nil) }
    if expression.start.isAmbiguous, !end.isAmbiguous {
      let (early, late) = (expression.start.minutes, expression.start.minutes + 720)
      if late < end.minutes { return (late, end.minutes) }
      // Both readings begin after the end: "10-2am" spans midnight.
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

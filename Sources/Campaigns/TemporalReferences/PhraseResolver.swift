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
  let zone: ZoneRules
  let today: CivilDay
  /// The message's civil time, in minutes from midnight.
  let now: Int

  init(writtenAt: Date, zone: ZoneRules) {
    self.writtenAt = writtenAt
    self.zone = zone
    (today, now) = zone.civilTime(at: writtenAt)
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
    return ResolvedTime(start: zone.instant(start), end: zone.instant(end), grain: resolved.grain)
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
    ResolvedTime(start: zone.instant(day, minutes: start), end: zone.instant(day, minutes: end), grain: grain)
  }

  /// The hours of a night in which people still call the day that has begun tomorrow.
  private static let nightEnds = 4 * 60

  func isToday(_ instant: Date) -> Bool { zone.civilTime(at: instant).day == today }

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

struct ResolvedDays: Equatable {
  let days: Range<CivilDay>
  let grain: TemporalGrain
  let doubt: ReadingDoubt?

  init(_ days: Range<CivilDay>, _ grain: TemporalGrain, doubt: ReadingDoubt? = nil) {
    self.days = days
    self.grain = grain
    self.doubt = doubt
  }

  init(_ first: CivilDay, count: Int = 1, _ grain: TemporalGrain = .day, doubt: ReadingDoubt? = nil) {
    self.init(first..<first + count, grain, doubt: doubt)
  }
}

extension PhraseResolver {
  /// Farther off, one of the two is more likely a mistake.
  private static let namedDaysMax = 62
  /// Months to look for a date on its weekday.
  private static let namedMonthsMax = 14
  private static let endOfMonthDays = 3

  func days(of expression: DayExpression, isPast: Bool) -> ResolvedDays? {
    switch expression {
    case .offset(let offset): ResolvedDays(today + offset)
    case .weekday(let weekday, let selector): day(weekday, selector, isPast).map { ResolvedDays($0) }
    case .weekdayOfWeek(let weekday, let weeks): ResolvedDays(today.monday + (7 * weeks + weekday - 1))
    case .date(let month, let day, let year): date(month, day, year, isPast).map { ResolvedDays($0) }
    case .dayOfMonth(let day, let months): dayOfMonth(day, months, isPast).map { ResolvedDays($0) }
    case .named(let weekday, let day): named(weekday, day, isPast)
    case .nthWeekday(let number, let weekday, let month): nthWeekday(number, weekday, month, isPast)
    case .holiday(let holiday): self.holiday(holiday, isPast).map { ResolvedDays($0) }
    case .about(let unit, let count): about(unit, count)
    case .period(let unit, let offset): period(unit, offset)
    case .endOfPeriod(let unit, let offset): end(of: unit, offset)
    case .month(let month, let year, let isEnd): self.month(month, year, isEnd, isPast)
    // "Wednesday in a week" on a Wednesday is that of next week.
    case .later(let days, .weekday(today.weekday, nil)): ResolvedDays(today + days)
    case .later(let days, let day): self.days(of: day, isPast: false).map { ResolvedDays($0.days.lowerBound + days) }
    case .range(let first, let last): range(first, last, isPast)
    case .elapsed: nil
    }
  }

  /// A weekday. Without a selector it is never today, because people then say *today*. With *this* it may be today.
  private func day(_ weekday: Int, _ selector: PeriodSelector?, _ isPast: Bool) -> CivilDay? {
    let ahead = (weekday - today.weekday).modulo(7)
    switch selector {
    case .this: return today + (isPast && ahead > 0 ? ahead - 7 : ahead)
    case .next: return today.monday + (7 + weekday - 1)
    case .afterNext: return today.monday + (14 + weekday - 1)
    case .last: return today + (ahead - 7)
    case .coming: return today + (ahead == 0 ? 7 : ahead)
    case nil: return today + (isPast ? ahead - 7 : ahead == 0 ? 7 : ahead)
    case .every: return nil
    }
  }

  /// A date. Without a year it is the next from today on, or the latest up to today.
  private func date(_ month: Int, _ day: Int, _ year: Int?, _ isPast: Bool) -> CivilDay? {
    if let year { return CivilDay(year: year, month: month, day: day) }
    // Two leap days are at most eight years apart.
    for distance in 0...8 {
      let year = today.year + (isPast ? -distance : distance)
      if let found = CivilDay(year: year, month: month, day: day), isPast ? found <= today : found >= today {
        return found
      }
    }
    return nil
  }

  /// A day by its position. Without a month it is in the next month that has it from today on, or the latest up to today.
  private func dayOfMonth(_ day: Int, _ months: Int?, _ isPast: Bool) -> CivilDay? {
    if let months { return dayOfMonth(day, months) }
    // Of two months in a row at least one has the day, and this month's may be over.
    for distance in 0...2 {
      if let found = dayOfMonth(day, isPast ? -distance : distance), isPast ? found <= today : found >= today {
        return found
      }
    }
    return nil
  }

  private func dayOfMonth(_ day: Int, _ months: Int) -> CivilDay? {
    let first = today.firstOfMonth(later: months)
    return CivilDay(year: first.year, month: first.month, day: day)
  }

  /// A weekday with its date. Without a month it is the next month, or the latest, in which both fit.
  private func named(_ weekday: Int, _ day: DayExpression, _ isPast: Bool) -> ResolvedDays? {
    if case .dayOfMonth(let number, nil) = day {
      let found = (0...Self.namedMonthsMax).lazy.compactMap { self.dayOfMonth(number, isPast ? -$0 : $0) }
        .first { $0.weekday == weekday && (isPast ? $0 <= self.today : $0 >= self.today) }
      if let found {
        return ResolvedDays(found, doubt: abs(found.number - today.number) > Self.namedDaysMax ? .contradiction : nil)
      }
    }
    guard let resolved = days(of: day, isPast: isPast) else { return nil }
    let fits = resolved.days.lowerBound.weekday == weekday
    return ResolvedDays(resolved.days, resolved.grain, doubt: fits ? resolved.doubt : .contradiction)
  }

  /// A weekday of a month by its number, in the next such month that has it ahead, or the latest up to today.
  private func nthWeekday(_ number: Int, _ weekday: Int, _ month: DayExpression, _ isPast: Bool) -> ResolvedDays? {
    guard let first = days(of: month, isPast: isPast)?.days.lowerBound else { return nil }
    let day = nth(number, weekday, year: first.year, month: first.month)
    if case .month(let named, nil, _) = month, let found = day, isPast ? found > today : found < today {
      return nth(number, weekday, year: first.year + (isPast ? -1 : 1), month: named).map { ResolvedDays($0) }
    }
    return day.map { ResolvedDays($0) }
  }

  private func nth(_ number: Int, _ weekday: Int, year: Int, month: Int) -> CivilDay? {
    guard let first = CivilDay(year: year, month: month, day: 1) else { return nil }
    if number < 0 {
      let last = first.firstOfMonth(later: 1) + -1
      return last + -(last.weekday - weekday).modulo(7)
    }
    let day = first + ((weekday - first.weekday).modulo(7) + 7 * (number - 1))
    return day.month == month ? day : nil
  }

  private func holiday(_ holiday: Holiday, _ isPast: Bool) -> CivilDay? {
    let years = isPast ? [today.year, today.year - 1] : [today.year, today.year + 1]
    return years.lazy.compactMap { self.day(of: holiday, in: $0) }
      .first { isPast ? $0 <= self.today : $0 >= self.today }
  }

  private func day(of holiday: Holiday, in year: Int) -> CivilDay? {
    switch holiday {
    case .date(let month, let day): CivilDay(year: year, month: month, day: day)
    case .easter(let days): CivilDay.easter(of: year).map { $0 + days }
    case .nth(let number, let weekday, let month, let later):
      nth(number, weekday, year: year, month: month).map { $0 + later }
    }
  }

  private func period(_ unit: CalendarUnit, _ offset: Int) -> ResolvedDays? {
    switch unit {
    case .week: ResolvedDays(today.monday + 7 * offset, count: 7, .week)
    case .weekend: ResolvedDays(today.monday + (7 * offset + 5), count: 2, .week)
    case .month: ResolvedDays(today.firstOfMonth(later: offset)..<today.firstOfMonth(later: offset + 1), .month)
    case .year: year(offset)
    case .minute, .hour, .day, .fortnight: nil
    }
  }

  /// The same day some weeks, months or years later: a guess that is near.
  private func about(_ unit: CalendarUnit, _ count: Int) -> ResolvedDays? {
    if unit == .week { return ResolvedDays(today + 7 * count, doubt: .approximate) }
    guard unit == .month || unit == .year else { return period(unit, count) }
    let first = today.firstOfMonth(later: unit == .month ? count : 12 * count)
    let day = CivilDay(year: first.year, month: first.month, day: min(today.date.day, 28)) ?? first
    return ResolvedDays(day, doubt: .approximate)
  }

  private func year(_ offset: Int) -> ResolvedDays {
    let months = 12 * offset - today.month + 1
    return ResolvedDays(today.firstOfMonth(later: months)..<today.firstOfMonth(later: months + 12), .year)
  }

  /// The end of a week begins on Friday; the end of a year is December.
  private func end(of unit: CalendarUnit, _ offset: Int) -> ResolvedDays? {
    guard let whole = period(unit, offset) else { return nil }
    let end = whole.days.upperBound
    switch unit {
    case .week: return ResolvedDays(end + -3..<end, .week)
    case .month: return ResolvedDays(end + -Self.endOfMonthDays..<end, .month)
    case .year: return ResolvedDays(end.firstOfMonth(later: -1)..<end, .year)
    case .weekend, .minute, .hour, .day, .fortnight: return whole
    }
  }

  /// A month by name. Without a year it is the next that is not over, or the latest that has begun.
  private func month(_ month: Int, _ year: Int?, _ isEnd: Bool, _ isPast: Bool) -> ResolvedDays? {
    let distance = isPast ? -(today.month - month).modulo(12) : (month - today.month).modulo(12)
    let months = year.map { ($0 - today.year) * 12 + month - today.month } ?? distance
    let end = today.firstOfMonth(later: months + 1)
    return ResolvedDays((isEnd ? end + -Self.endOfMonthDays : today.firstOfMonth(later: months))..<end, .month)
  }

  /// A range whose end follows its start. An earlier end, as of weekdays, moves a week later or is dropped.
  private func range(_ first: DayExpression, _ last: DayExpression, _ isPast: Bool) -> ResolvedDays? {
    guard let start = days(of: first, isPast: isPast), let end = days(of: last, isPast: isPast) else { return nil }
    let grain = start.grain == .day ? end.grain : start.grain
    for weeks in 0...1 where end.days.upperBound + 7 * weeks > start.days.lowerBound {
      return ResolvedDays(start.days.lowerBound..<end.days.upperBound + 7 * weeks, grain)
    }
    return start
  }
}

extension CivilDay {
  /// Easter Sunday of the Gregorian calendar. Source: the anonymous algorithm in Nature of 20 April 1876.
  fileprivate static func easter(of year: Int) -> CivilDay? {
    let (century, ofCentury) = (year / 100, year % 100)
    let moon = (19 * (year % 19) + century - century / 4 - (century - (century + 8) / 25 + 1) / 3 + 15) % 30
    let weekday = (32 + 2 * (century % 4) + 2 * (ofCentury / 4) - moon - ofCentury % 4) % 7
    let correction = (year % 19 + 11 * moon + 22 * weekday) / 451
    let days = moon + weekday - 7 * correction + 114
    return CivilDay(year: year, month: days / 31, day: days % 31 + 1)
  }
}

// Civil time in a zone.
extension ZoneRules {
  /// More than the largest offset in the time zone database: Manila's 15 h 56 min until 1844.
  private static let offsetSecondsMax = 16.0 * 3600

  /// The instant of a local time. Minutes beyond the day continue into the next.
  ///
  /// RFC 5545, 3.3.5: a time in a gap uses the offset before the change; of an ambiguous time the first instant counts.
  fileprivate func instant(_ day: CivilDay, minutes: Int = 0) -> Date {
    let local = Double(day.number) * 86_400 + Double(minutes) * 60
    let before = offset(around: local - Self.offsetSecondsMax)
    if offset(around: local - before) == before { return Date(timeIntervalSince1970: local - before) }
    let after = offset(around: local + Self.offsetSecondsMax)
    if offset(around: local - after) == after { return Date(timeIntervalSince1970: local - after) }
    return Date(timeIntervalSince1970: local - before)
  }

  fileprivate func civilTime(at instant: Date) -> (day: CivilDay, minutes: Int) {
    let utc = instant.timeIntervalSince1970
    let minutes = Int(((utc + offset(around: utc)) / 60).rounded(.down))
    return (CivilDay(number: minutes.quotient(1440)), minutes.modulo(1440))
  }

  private func offset(around seconds: Double) -> Double { Double(offset(at: Int64(seconds.rounded(.down)))) }
}

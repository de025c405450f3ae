extension PhraseGrammar {
  func day(at index: Int) -> Parsed<DayExpression>? {
    if let range = sharedMonth(at: index) { return range }
    guard let first = singleDay(at: index) else { return nil }
    guard joinsRange(at: first.end, begunAt: index) else { return first }
    if let last = singleDay(at: first.end + 1) {
      return Parsed(.range(first.value.inWeek(of: last.value), last.value), end: last.end)
    }
    return shortRange(first) ?? first
  }

  func singleDay(at index: Int) -> Parsed<DayExpression>? {
    guard let lexeme = self[index], lexeme.kind != .unknown else { return nil }
    if let offset = lexeme.dayOffset {
      guard lexeme.means(.bound) else { return dayWithOffset(offset, at: index + 1) }
      let start = skipping(.article, at: index + 1)
      return (holiday(at: start) ?? date(at: start)).map { Parsed(.later(days: offset, than: $0.value), end: $0.end) }
    }
    return date(at: index) ?? nthWeekday(at: index) ?? weekday(at: index) ?? numericDate(at: index) ?? count(at: index)
      ?? dayOfMonth(at: index) ?? period(at: index) ?? month(at: index) ?? holiday(at: index)
  }

  private func holiday(at index: Int) -> Parsed<DayExpression>? {
    let start = self[index]?.selector == .this ? index + 1 : index
    // "Black Friday deals" are not on that day only.
    if means(.artefact, at: start + 1) { return nil }
    return self[start]?.holiday.map { Parsed(.holiday($0), end: start + 1) }
  }

  /// A day counted from the message's, with the weekday or date that repeats it, or a week later.
  private func dayWithOffset(_ offset: Int, at index: Int) -> Parsed<DayExpression> {
    if self[index]?.unit == .week { return Parsed(.offset(offset + 7), end: index + 1) }
    if means(.ahead, at: index), let length = length(at: index + 1), let days = length.value.days {
      return Parsed(.offset(offset + days), end: length.end)
    }
    guard let weekday = self[index]?.weekday else { return Parsed(.offset(offset), end: index) }
    return Parsed(.named(weekday, .offset(offset)), end: index + 1)
  }

  func joinsRange(at index: Int, begunAt start: Int) -> Bool {
    guard let lexeme = self[index] else { return false }
    return lexeme.isDash || lexeme.means(.until) || lexeme.means(.and) && means(.between, at: start - 1)
  }

  /// A range whose end alone names the month: *the 13th to the 15th July*.
  private func sharedMonth(at index: Int) -> Parsed<DayExpression>? {
    let start = skipping(.article, at: index)
    guard let first = dayNumber(at: start), joinsRange(at: start + 1, begunAt: index),
      let last = date(at: start + 2), case .date(let month, let day, let year) = last.value, first < day
    else { return nil }
    return Parsed(.range(.date(month: month, day: first, year: year), last.value), end: last.end)
  }

  /// A range whose end is only the number of a day, as in *March 3 to 5*.
  private func shortRange(_ first: Parsed<DayExpression>) -> Parsed<DayExpression>? {
    let start = skipping(.article, at: first.end + 1)
    guard case .date(let month, let day, let year) = first.value, let last = dayNumber(at: start), last > day,
      isCalendarDay(month: month, day: last)
    else { return nil }
    return Parsed(.range(first.value, .date(month: month, day: last, year: year)), end: start + 1)
  }

  private static let periods: Set<CalendarUnit> = [.week, .weekend, .month, .year]

  /// The end of something, or a week, month, year or weekend with its selector.
  private func period(at index: Int) -> Parsed<DayExpression>? {
    if means(.endOf, at: index) { return endOfPeriod(at: index + 1) }
    let start = skipping(.article, at: index)
    if let unit = self[start]?.unit, Self.periods.contains(unit) {
      if self[start + 1]?.selector == .afterNext { return Parsed(.period(unit, offset: 2), end: start + 2) }
      return unit == .weekend && start > index ? Parsed(.period(unit, offset: 0), end: start + 1) : nil
    }
    guard let offset = self[start]?.selector?.offset, let unit = self[start + 1]?.unit, Self.periods.contains(unit)
    else {
      return nil
    }
    return Parsed(.period(unit, offset: offset), end: start + 2)
  }

  private func endOfPeriod(at index: Int) -> Parsed<DayExpression>? {
    if let month = self[index]?.month {
      return Parsed(.month(month, year: nil, isEnd: true), end: index + 1)
    }
    let start = skipping(.article, at: index)
    let offset = self[start]?.selector.flatMap(\.offset)
    let unitIndex = offset == nil ? start : start + 1
    guard let unit = self[unitIndex]?.unit, Self.periods.contains(unit) else { return nil }
    return Parsed(.endOfPeriod(unit, offset: offset ?? 0), end: unitIndex + 1)
  }
}

extension PhraseGrammar {
  /// A weekday with its context: *next Tuesday*, *Friday next week*, *next week on Friday*.
  func weekday(at index: Int) -> Parsed<DayExpression>? {
    if let weekday = weekdayOfWeek(at: index) { return weekday }
    var start = skipping(.article, at: index)
    let selector = self[start]?.selector
    if selector != nil { start += 1 }
    // In "this coming Friday" and "this past Monday" the second selector counts.
    let second = selector == nil ? nil : self[start]?.selector
    if second != nil { start += 1 }
    guard let weekday = self[start]?.weekday, (second ?? selector)?.offset != nil || selector == nil,
      isSupportedWeekday(at: start), self[index - 1]?.selector != .every
    else { return nil }
    return namedDate(weekday, at: start + 1) ?? weekLater(weekday, second ?? selector, at: start + 1)
      ?? Parsed(.weekday(weekday, second ?? selector), end: start + 1)
  }

  private func weekdayOfWeek(at index: Int) -> Parsed<DayExpression>? {
    guard let weeks = self[index]?.selector?.offset, self[index + 1]?.unit == .week else { return nil }
    let start = skipping(.on, at: skippingPause(at: index + 2))
    guard let weekday = self[start]?.weekday, isSupportedWeekday(at: start) else { return nil }
    return Parsed(.weekdayOfWeek(weekday, weeks: weeks), end: start + 1)
  }

  private func weekLater(_ weekday: Int, _ selector: PeriodSelector?, at index: Int) -> Parsed<DayExpression>? {
    if let unit = self[index]?.unit, unit == .week || unit == .fortnight {
      return Parsed(.later(days: unit == .week ? 7 : 14, than: .weekday(weekday, selector)), end: index + 1)
    }
    if self[index]?.selector == .afterNext { return Parsed(.weekdayOfWeek(weekday, weeks: 2), end: index + 1) }
    if means(.ahead, at: index), let length = length(at: index + 1), let days = length.value.days, days % 7 == 0 {
      return Parsed(.later(days: days, than: .weekday(weekday, selector)), end: length.end)
    }
    let start = skipping(.of, at: index)
    guard let weeks = self[start]?.selector?.offset, self[start + 1]?.unit == .week else { return nil }
    return Parsed(.weekdayOfWeek(weekday, weeks: weeks), end: start + 2)
  }

  /// The date after a weekday. It repeats the day and is the more certain of the two.
  private func namedDate(_ weekday: Int, at index: Int) -> Parsed<DayExpression>? {
    let start = skippingPause(at: index)
    let date = date(at: start) ?? numericDate(at: start, isExpected: true) ?? dayOfMonth(at: start, isExpected: true)
    return date.map { Parsed(.named(weekday, $0.value), end: $0.end) }
  }

  /// A weekday of a month by its number: *the first Saturday in June*.
  private func nthWeekday(at index: Int) -> Parsed<DayExpression>? {
    let start = skipping(.article, at: index)
    let isLast = self[start]?.selector == .last
    guard let number = isLast ? -1 : self[start]?.ordinal, (-1...5).contains(number),
      let weekday = self[start + 1]?.weekday
    else { return nil }
    let monthIndex = skipping(
      .article, at: means(.of, at: start + 2) || means(.ahead, at: start + 2) ? start + 3 : start + 2)
    if let month = month(at: monthIndex, isSupported: true) {
      return Parsed(.nthWeekday(number, weekday: weekday, month: month.value), end: month.end)
    }
    let months = self[monthIndex]?.selector?.offset
    guard monthIndex > start + 2, self[months == nil ? monthIndex : monthIndex + 1]?.unit == .month else { return nil }
    return Parsed(
      .nthWeekday(number, weekday: weekday, month: .period(.month, offset: months ?? 0)),
      end: months == nil ? monthIndex + 1 : monthIndex + 2)
  }

  /// Whether a word with other meanings is a weekday here.
  private func isSupportedWeekday(at index: Int) -> Bool {
    if means(.naming, at: index - 1) { return false }
    guard let lexeme = self[index], lexeme.isOrdinaryWord else { return true }
    if let before = self[index - 1] {
      if before.means(.on) || before.means(.until) || before.isDash || before.selector != nil { return true }
      if before.event != nil || before.meridiem != nil || before.groups != nil { return true }
    }
    guard let after = self[index + 1], !after.isPause else { return self[index - 1]?.means(.futureSense) == true }
    if after.groups != nil || after.means(.at) { return true }
    return after.means(.until) || after.dayPart != nil || after.month != nil || after.ordinal != nil || after.isDash
  }

  /// The largest count of units: two years of days. It also keeps all arithmetic far from overflow.
  private static let countMax = 730

  /// A count of units before or after now or some day: *in two days*, *a week ago*, *a week from Friday*.
  func count(at index: Int) -> Parsed<DayExpression>? {
    if means(.ahead, at: index), let length = length(at: skipping(.approximately, at: index + 1)) {
      return laterThanDay(length) ?? Parsed(expression(length.value, sign: 1), end: length.end)
    }
    if means(.ago, at: index), let length = length(at: index + 1) {
      return Parsed(expression(length.value, sign: -1), end: length.end)
    }
    guard let length = length(at: index) else { return nil }
    if means(.ago, at: length.end) { return Parsed(expression(length.value, sign: -1), end: length.end + 1) }
    if let later = laterThanDay(length) { return later }
    return countdownEnd(at: length.end, isShort: length.value.unit == .minute).map {
      Parsed(expression(length.value, sign: 1), end: $0)
    }
  }

  /// The most words between a countdown and its event: *five days until I finally get to start my*.
  private static let countdownReach = 6

  /// The end of a count up to an event or from now: *three days away*, *two more sleeps to go till the race*. Minutes
  /// *away* may be a way.
  private func countdownEnd(at index: Int, isShort: Bool) -> Int? {
    let start = skipping(.remaining, at: index)
    let end = skipping(.fromNow, at: start)
    // "Eight hours before the exam" are not from now; "eight more hours before" are.
    let isFromNow = end > index || means(.determiner, at: index - 2)
    if let joint = self[end], joint.means(.until) || joint.means(.countdown) || joint.means(.bound) && isFromNow {
      let rest = lexemes[(end + 1)...].prefix(Self.countdownReach).prefix { !$0.isPause }
      let isEvent = rest.first.map {
        $0.event != nil || $0.means(.article) || $0.means(.writers) || $0.means(.anothers)
      }
      if isEvent == true, rest.contains(where: { $0.event != nil }) { return end + 1 }
    }
    return end > start && !(isShort && !means(.remaining, at: start)) ? end : nil
  }

  private func laterThanDay(_ length: Parsed<Length>) -> Parsed<DayExpression>? {
    guard let days = length.value.days else { return nil }
    var start = skipping(.idiom, at: length.end)
    let isJoined = means(.from, at: start) || means(.on, at: start)
    if isJoined { start += 1 }
    if let offset = self[start]?.dayOffset { return Parsed(.later(days: days, than: .offset(offset)), end: start + 1) }
    guard isJoined, let day = weekday(at: start) ?? date(at: start) ?? dayOfMonth(at: start) else { return nil }
    return Parsed(.later(days: days, than: day.value), end: day.end)
  }

  struct Length {
    let count: Int
    let unit: CalendarUnit

    var days: Int? {
      switch unit {
      case .day: count
      case .week: 7 * count
      case .fortnight: 14 * count
      case .minute, .hour, .weekend, .month, .year: nil
      }
    }
  }

  func length(at index: Int) -> Parsed<Length>? {
    if let minutes = self[index]?.duration { return Parsed(Length(count: minutes, unit: .minute), end: index + 1) }
    if self[index]?.unit == .fortnight { return Parsed(Length(count: 1, unit: .fortnight), end: index + 1) }
    let unitIndex = skipping(.determiner, at: index + 1)
    guard let unit = self[unitIndex]?.unit, unit != .weekend else { return nil }
    if unit == .hour, let (hours, tenths) = self[index]?.groups?.pair(separatedBy: "."), hours <= 48, tenths <= 9 {
      return Parsed(Length(count: hours * 60 + tenths * 6, unit: .minute), end: index + 2)
    }
    guard let count = self[index]?.count, (1...Self.countMax).contains(count) else { return nil }
    return Parsed(Length(count: count, unit: unit), end: unitIndex + 1)
  }

  /// Weeks and longer units are rarely exact to the day.
  private func expression(_ length: Length, sign: Int) -> DayExpression {
    switch length.unit {
    case .minute: .elapsed(minutes: sign * length.count)
    case .hour: .elapsed(minutes: sign * length.count * 60)
    case .day: .offset(sign * length.count)
    case .fortnight: .about(.week, count: sign * 2 * length.count)
    case .week, .weekend, .month, .year: .about(length.unit, count: sign * length.count)
    }
  }

  /// Years that a text may name. Other numbers of four digits are not years.
  private static let years = 1900...2199

  func date(at index: Int) -> Parsed<DayExpression>? {
    monthFirstDate(at: index) ?? dayFirstDate(at: index)
  }

  private func monthFirstDate(at index: Int) -> Parsed<DayExpression>? {
    guard let month = self[index]?.month else { return nil }
    let start = skippingHyphen(at: skipping(.article, at: index + 1))
    if let days = dayPair(at: start) { return dated(days, month, at: start + 1) }
    guard let day = dayNumber(at: start), self[start + 1]?.unit == nil else { return nil }
    return dated(day...day, month, at: start + 1)
  }

  private func dayFirstDate(at index: Int) -> Parsed<DayExpression>? {
    let start = skipping(.article, at: index)
    guard let days = dayPair(at: start) ?? dayNumber(at: start).map({ $0...$0 }) else { return nil }
    let monthIndex = skippingHyphen(at: skipping(.of, at: start + 1))
    guard let lexeme = self[monthIndex], let month = lexeme.month else { return nil }
    let isCertain = !lexeme.isOrdinaryWord || monthIndex > start + 1 || self[start]?.ordinal != nil
    guard isCertain || self[monthIndex + 1]?.isUnknown != true else { return nil }
    return dated(days, month, at: monthIndex + 1)
  }

  /// The index after what joins a day and its month in *28-Nov* and *Oct/2*.
  private func skippingHyphen(at index: Int) -> Int {
    self[index]?.isDash == true || self[index]?.kind == .mark(.sign) ? index + 1 : index
  }

  /// Days of a month with an optional year; nil when the month has no such day.
  private func dated(_ days: ClosedRange<Int>, _ month: Int, at index: Int) -> Parsed<DayExpression>? {
    guard isCalendarDay(month: month, day: days.upperBound) else { return nil }
    let year = year(at: skippingPause(at: index))
    let end = year.map { _ in skippingPause(at: index) + 1 } ?? index
    let first = DayExpression.date(month: month, day: days.lowerBound, year: year)
    guard days.count > 1 else { return Parsed(first, end: end) }
    return Parsed(.range(first, .date(month: month, day: days.upperBound, year: year)), end: end)
  }

  /// A month without a day, unless it may be another word.
  func month(at index: Int, isSupported: Bool = false) -> Parsed<DayExpression>? {
    let selector = self[index]?.selector
    let start = selector == nil ? index : index + 1
    guard let lexeme = self[start], let month = lexeme.month, selector != .every else { return nil }
    let year = year(at: start + 1)
    let isSupported =
      isSupported || selector != nil || year != nil || means(.ahead, at: index - 1) || means(.on, at: index - 1)
    guard isSupported || !lexeme.isOrdinaryWord else { return nil }
    return Parsed(.month(month, year: year, isEnd: false), end: year == nil ? start + 1 : start + 2)
  }

  /// A position in a month, such as *the 15th*, with an optional month.
  ///
  /// No noun may follow: *the 15th floor* is not a day.
  /// - Parameter isExpected: whether a weekday comes before it.
  func dayOfMonth(at index: Int, isExpected: Bool = false) -> Parsed<DayExpression>? {
    let start = skipping(.article, at: index)
    let hasPreposition = means(.on, at: index - 1) || followsCorrection(index)
    if let day = dayNumber(at: start), let month = ofMonth(at: start + 1) {
      return Parsed(.dayOfMonth(day, months: month.value), end: month.end)
    }
    let isBeforeEvent = self[start]?.ordinal ?? 0 > 5 && self[start + 1]?.event != nil
    if isExpected, let day = dayNumber(at: start), day > 12 || start > index || isBeforeEvent,
      isBeforeEvent || !countsSomething(at: start + 1)
    {
      return Parsed(.dayOfMonth(day, months: nil), end: start + 1)
    }
    if hasPreposition, start > index, self[start]?.digits != nil, let day = dayNumber(at: start),
      !countsSomething(at: start + 1)
    {
      return Parsed(.dayOfMonth(day, months: nil), end: start + 1)
    }
    guard let lexeme = self[start], let day = lexeme.ordinal, (1...31).contains(day),
      !lexeme.isOrdinaryWord || (hasPreposition || isExpected) && start > index,
      start > index || isExpected || hasPreposition
    else { return nil }
    return countsSomething(at: start + 1) ? nil : Parsed(.dayOfMonth(day, months: nil), end: start + 1)
  }

  /// Whether a date may be corrected here: *the 15th, sorry, 16th*.
  private func followsCorrection(_ index: Int) -> Bool {
    means(.correction, at: index - 1) || self[index - 1]?.isPause == true && means(.correction, at: index - 2)
  }

  /// What places a day in a month by its distance: *of next month*.
  private func ofMonth(at index: Int) -> Parsed<Int>? {
    let start = skipping(.article, at: index + 1)
    guard means(.of, at: index), let months = self[start]?.selector?.offset, self[start + 1]?.unit == .month else {
      return nil
    }
    return Parsed(months, end: start + 2)
  }

  /// Whether the number before the lexeme could count it.
  func countsSomething(at index: Int) -> Bool {
    guard let lexeme = self[index] else { return false }
    return lexeme.isUnknown || lexeme.unit != nil || lexeme.event != nil || lexeme.digits != nil || lexeme.means(.label)
  }

  /// The number of a day of some month, unless it is an hour.
  func dayNumber(at index: Int) -> Int? {
    guard let lexeme = self[index] else { return nil }
    if let ordinal = lexeme.ordinal { return (1...31).contains(ordinal) ? ordinal : nil }
    guard let digits = lexeme.digits, digits.digits[0] <= 2, let day = digits.single, (1...31).contains(day),
      self[index + 1]?.meridiem == nil, !means(.hourMark, at: index + 1)
    else { return nil }
    return day
  }

  private func dayPair(at index: Int) -> ClosedRange<Int>? {
    guard let (first, last) = self[index]?.groups?.pair(separatedBy: "-"), 1 <= first, first < last, last <= 31,
      self[index + 1]?.meridiem == nil
    else { return nil }
    return first...last
  }

  private func year(at index: Int) -> Int? {
    guard let digits = self[index]?.digits, digits.digits[0] == 4, let year = digits.single,
      Self.years.contains(year)
    else { return nil }
    return year
  }

  func isCalendarDay(month: Int, day: Int) -> Bool {
    // 2000 is a leap year.
    CivilDay(year: 2000, month: month, day: day) != nil
  }

  /// A date in digits.
  ///
  /// Dates with a year, such as those of ISO 8601, are taken everywhere. Day and month alone may also be a fraction or
  /// a score, so their context must expect a date.
  /// - Parameter isExpected: whether the preceding words expect a date.
  func numericDate(at index: Int, isExpected: Bool = false) -> Parsed<DayExpression>? {
    guard let groups = self[index]?.groups, let date = fullDate(groups) ?? shortDate(groups) else { return nil }
    guard groups.groups.count == 3 || groups.isPosition || isExpected || expectsDate(at: index) else { return nil }
    return Parsed(date, end: index + 1)
  }

  private func fullDate(_ number: NumericToken) -> DayExpression? {
    guard number.groups.count == 3 else { return nil }
    let (first, second, third) = (number.groups[0], number.groups[1], number.groups[2])
    if number.digits[0] == 4 { return number.separator == ":" ? nil : calendarDay(first, second, third) }
    guard isYear(number) else { return nil }
    let year = number.digits[2] == 2 ? 2000 + third : third
    return order == .monthDayYear
      ? calendarDay(year, first, second) ?? calendarDay(year, second, first)
      : calendarDay(year, second, first) ?? calendarDay(year, first, second)
  }

  /// Whether the last group can be a year: four digits, or two after a slash. Two digits after a dot are a version.
  private func isYear(_ number: NumericToken) -> Bool {
    switch (number.separator, number.digits[2]) {
    case ("/", 2), ("/", 4), (".", 4), ("-", 4): true
    default: false
    }
  }

  private func shortDate(_ number: NumericToken) -> DayExpression? {
    let dotted = number.isPosition ? number.pair(separatedBy: ".") : nil
    guard let (first, second) = number.pair(separatedBy: "/") ?? dotted else { return nil }
    return order == .dayMonthYear
      ? monthAndDay(second, first) ?? monthAndDay(first, second)
      : monthAndDay(first, second) ?? monthAndDay(second, first)
  }

  private func monthAndDay(_ month: Int, _ day: Int) -> DayExpression? {
    isCalendarDay(month: month, day: day) ? .date(month: month, day: day, year: nil) : nil
  }

  private func calendarDay(_ year: Int, _ month: Int, _ day: Int) -> DayExpression? {
    CivilDay(year: year, month: month, day: day) == nil ? nil : .date(month: month, day: day, year: year)
  }

  /// Whether the context expects day and month, and nothing follows that they could be a share of.
  ///
  /// A preposition of time, an event or a range expects them. After a verb, or as the first word, they count unless
  /// they look like a score out of 5 or 10 or a fraction.
  private func expectsDate(at index: Int) -> Bool {
    guard !countsShare(at: index + 1), !isMark(at: index) else { return false }
    guard let before = self[index - 1] else { return !looksLikeScore(at: index) }
    if before.isPause, self[index - 2]?.event != nil { return true }
    if before.event != nil || before.means(.from) || before.means(.between) || before.means(.bound) { return true }
    if before.means(.on) || before.means(.until) || before.isDash { return true }
    return before.means(.futureSense) && !looksLikeScore(at: index)
  }

  /// Whether it is the mark of an event: *got 10/20 on my exam*.
  private func isMark(at index: Int) -> Bool {
    guard means(.on, at: index + 1) || means(.ahead, at: index + 1), !means(.on, at: index - 1) else { return false }
    return lexemes[(index + 2)...].prefix(2).contains { $0.event != nil }
  }

  private func countsShare(at index: Int) -> Bool {
    guard let lexeme = self[index] else { return false }
    return lexeme.isUnknown || lexeme.unit != nil || lexeme.means(.of)
  }

  private func looksLikeScore(at index: Int) -> Bool {
    guard let (part, whole) = self[index]?.groups?.pair(separatedBy: "/") else { return false }
    return part <= whole && [2, 3, 4, 5, 8, 10].contains(whole)
  }
}

extension DayExpression {
  /// A weekday without a week, in the week of the end of its range: *Monday to Wednesday next week*.
  fileprivate func inWeek(of last: DayExpression) -> DayExpression {
    guard case .weekday(let weekday, nil) = self, case .weekdayOfWeek(_, let weeks) = last else { return self }
    return .weekdayOfWeek(weekday, weeks: weeks)
  }
}

extension PhraseGrammar {
  /// Years that a text may name. Other numbers of four digits are not years.
  private static let years = 1900...2199

  /// A day with the name of its month, before or after it.
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

  /// Two days of a month, joined by a dash.
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

  /// Whether some year has the day.
  func isCalendarDay(month: Int, day: Int) -> Bool {
    // 2000 is a leap year.
    CivilDay(year: 2000, month: month, day: day) != nil
  }
}

extension PhraseGrammar {
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
    guard !countsShare(at: index + 1) else { return false }
    guard let before = self[index - 1] else { return !looksLikeScore(at: index) }
    if before.isPause, self[index - 2]?.event != nil { return true }
    if before.event != nil || before.means(.from) || before.means(.between) || before.means(.bound) { return true }
    if before.means(.on) || before.means(.until) || before.isDash { return true }
    return before.means(.futureSense) && !looksLikeScore(at: index)
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

extension PhraseGrammar {
  /// A date in digits.
  ///
  /// The year-month-day of ISO 8601 and dates with a year are taken wherever they stand. Day and month alone may also be
  /// a fraction or a score and need something that expects a date.
  /// - Parameter isExpected: whether what goes before already does.
  func numericDate(at index: Int, isExpected: Bool = false) -> Parsed<DayExpression>? {
    guard let groups = self[index]?.groups, let date = fullDate(groups) ?? shortDate(groups) else { return nil }
    guard groups.groups.count == 3 || isExpected || expectsDate(at: index) else { return nil }
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

  /// Whether the last group can be a year: of four digits, or between slashes of two. With dots two digits are a version.
  private func isYear(_ number: NumericToken) -> Bool {
    switch (number.separator, number.digits[2]) {
    case ("/", 2), ("/", 4), (".", 4), ("-", 4): true
    default: false
    }
  }

  private func shortDate(_ number: NumericToken) -> DayExpression? {
    guard let (first, second) = number.pair(separatedBy: "/") else { return nil }
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

  /// Whether day and month are expected there and nothing follows that they could be a share of.
  ///
  /// A preposition of time expects them, as does an event or a range; after a verb, or as the first word, they are
  /// believed unless they look like a score out of 5 or 10 or a fraction.
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

extension PhraseGrammar {
  /// A day, or the days from one to another.
  func day(at index: Int) -> Parsed<DayExpression>? {
    guard let first = singleDay(at: index) else { return nil }
    guard joinsRange(at: first.end, begunAt: index) else { return first }
    if let last = singleDay(at: first.end + 1) { return Parsed(.range(first.value, last.value), end: last.end) }
    return shortRange(first) ?? first
  }

  /// One day, week or month.
  func singleDay(at index: Int) -> Parsed<DayExpression>? {
    guard let lexeme = self[index], lexeme.kind != .unknown else { return nil }
    if let offset = lexeme.dayOffset { return Parsed(.offset(offset), end: index + 1) }
    return date(at: index) ?? weekday(at: index) ?? numericDate(at: index) ?? count(at: index) ?? dayOfMonth(at: index)
      ?? period(at: index) ?? month(at: index)
  }

  /// Whether the lexeme there stands between the ends of a range that began at `start`.
  func joinsRange(at index: Int, begunAt start: Int) -> Bool {
    guard let lexeme = self[index] else { return false }
    return lexeme.isDash || lexeme.means(.until) || lexeme.means(.and) && means(.between, at: start - 1)
  }

  /// A range whose end is only the number of a day, as in *March 3 to 5*.
  private func shortRange(_ first: Parsed<DayExpression>) -> Parsed<DayExpression>? {
    guard case .date(let month, let day, let year) = first.value, let last = dayNumber(at: first.end + 1), last > day,
      isCalendarDay(month: month, day: last)
    else { return nil }
    return Parsed(.range(first.value, .date(month: month, day: last, year: year)), end: first.end + 2)
  }

  /// The end of something, or a week, month, year or weekend with its selector.
  private func period(at index: Int) -> Parsed<DayExpression>? {
    if means(.endOf, at: index) { return endOfPeriod(at: index + 1) }
    let start = skipping(.article, at: index)
    if let unit = self[start]?.unit, unit.isPeriod {
      if self[start + 1]?.selector == .afterNext { return Parsed(.period(unit, offset: 2), end: start + 2) }
      return unit == .weekend && start > index ? Parsed(.period(unit, offset: 0), end: start + 1) : nil
    }
    guard let offset = self[start]?.selector?.offset, let unit = self[start + 1]?.unit, unit.isPeriod else {
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
    guard let unit = self[unitIndex]?.unit, unit.isPeriod else { return nil }
    return Parsed(.endOfPeriod(unit, offset: offset ?? 0), end: unitIndex + 1)
  }
}

extension CalendarUnit {
  /// Whether it is a stretch of days that has a name of its own.
  fileprivate var isPeriod: Bool {
    switch self {
    case .week, .weekend, .month, .year: true
    case .minute, .hour, .day: false
    }
  }
}

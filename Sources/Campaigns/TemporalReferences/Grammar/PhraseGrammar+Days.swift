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

  /// Whether the lexeme there joins the ends of a range that began at `start`.
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
  /// Whether it is a named stretch of days.
  fileprivate var isPeriod: Bool {
    switch self {
    case .week, .weekend, .month, .year: true
    case .minute, .hour, .day: false
    }
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
    return namedDate(at: start + 1) ?? weekLater(weekday, second ?? selector, at: start + 1)
      ?? Parsed(.weekday(weekday, second ?? selector), end: start + 1)
  }

  /// A week before its weekday.
  private func weekdayOfWeek(at index: Int) -> Parsed<DayExpression>? {
    guard let weeks = self[index]?.selector?.offset, self[index + 1]?.unit == .week else { return nil }
    let start = skipping(.on, at: skippingPause(at: index + 2))
    guard let weekday = self[start]?.weekday, isSupportedWeekday(at: start) else { return nil }
    return Parsed(.weekdayOfWeek(weekday, weeks: weeks), end: start + 1)
  }

  /// A week after its weekday.
  private func weekLater(_ weekday: Int, _ selector: PeriodSelector?, at index: Int) -> Parsed<DayExpression>? {
    if self[index]?.unit == .week {
      return Parsed(.later(days: 7, than: .weekday(weekday, selector)), end: index + 1)
    }
    let start = skipping(.of, at: index)
    guard let weeks = self[start]?.selector?.offset, self[start + 1]?.unit == .week else { return nil }
    return Parsed(.weekdayOfWeek(weekday, weeks: weeks), end: start + 2)
  }

  /// The date after a weekday. It repeats the day and is the more certain of the two.
  private func namedDate(at index: Int) -> Parsed<DayExpression>? {
    let start = skippingPause(at: index)
    return date(at: start) ?? numericDate(at: start, isExpected: true) ?? dayOfMonth(at: start)
  }

  /// Whether a word with other meanings is a weekday here.
  private func isSupportedWeekday(at index: Int) -> Bool {
    guard let lexeme = self[index], lexeme.isOrdinaryWord else { return true }
    if let before = self[index - 1] {
      if before.means(.on) || before.means(.until) || before.isDash || before.selector != nil { return true }
    }
    guard let after = self[index + 1] else { return false }
    return after.dayPart != nil || after.month != nil || after.ordinal != nil || after.isDash
  }
}

extension PhraseGrammar {
  /// The largest count of units: two years of days. It also keeps all arithmetic far from overflow.
  private static let countMax = 730

  /// A count of units before or after now or some day: *in two days*, *a week ago*, *a week from Friday*.
  func count(at index: Int) -> Parsed<DayExpression>? {
    if means(.ahead, at: index), let length = length(at: index + 1) {
      return laterThanDay(length) ?? Parsed(expression(length.value, sign: 1), end: length.end)
    }
    if means(.ago, at: index), let length = length(at: index + 1) {
      return Parsed(expression(length.value, sign: -1), end: length.end)
    }
    guard let length = length(at: index) else { return nil }
    if means(.ago, at: length.end) { return Parsed(expression(length.value, sign: -1), end: length.end + 1) }
    if means(.fromNow, at: length.end) { return Parsed(expression(length.value, sign: 1), end: length.end + 1) }
    return laterThanDay(length)
  }

  /// Days or weeks after a named day.
  private func laterThanDay(_ length: Parsed<Length>) -> Parsed<DayExpression>? {
    guard let days = length.value.days else { return nil }
    var start = length.end
    let isJoined = means(.from, at: start) || means(.on, at: start)
    if isJoined { start += 1 }
    if let offset = self[start]?.dayOffset { return Parsed(.later(days: days, than: .offset(offset)), end: start + 1) }
    guard isJoined, let day = weekday(at: start) ?? date(at: start) ?? dayOfMonth(at: start) else { return nil }
    return Parsed(.later(days: days, than: day.value), end: day.end)
  }

  private struct Length {
    let count: Int
    let unit: CalendarUnit

    /// In whole days; nil for other units.
    var days: Int? {
      switch unit {
      case .day: count
      case .week: 7 * count
      case .minute, .hour, .weekend, .month, .year: nil
      }
    }
  }

  private func length(at index: Int) -> Parsed<Length>? {
    if let minutes = self[index]?.duration { return Parsed(Length(count: minutes, unit: .minute), end: index + 1) }
    guard let count = self[index]?.count, (1...Self.countMax).contains(count), let unit = self[index + 1]?.unit,
      unit != .weekend
    else { return nil }
    return Parsed(Length(count: count, unit: unit), end: index + 2)
  }

  /// Weeks and longer units are rarely exact to the day, so they mean the week or month that they reach.
  private func expression(_ length: Length, sign: Int) -> DayExpression {
    switch length.unit {
    case .minute: .elapsed(minutes: sign * length.count)
    case .hour: .elapsed(minutes: sign * length.count * 60)
    case .day: .offset(sign * length.count)
    case .week, .weekend, .month, .year: .period(length.unit, offset: sign * length.count)
    }
  }
}

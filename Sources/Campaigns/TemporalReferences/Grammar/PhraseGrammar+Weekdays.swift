extension PhraseGrammar {
  /// A weekday with what is said around it: *next Tuesday*, *Friday next week*, *next week on Friday*.
  func weekday(at index: Int) -> Parsed<DayExpression>? {
    if let weekday = weekdayOfWeek(at: index) { return weekday }
    var start = skipping(.article, at: index)
    let selector = self[start]?.selector
    if selector != nil { start += 1 }
    // "this coming Friday", "this past Monday": the second of two says which.
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

  /// The date that repeats which day a weekday is; it is the more certain of the two.
  private func namedDate(at index: Int) -> Parsed<DayExpression>? {
    let start = skippingPause(at: index)
    return date(at: start) ?? numericDate(at: start, isExpected: true) ?? dayOfMonth(at: start)
  }

  /// Whether a word that is a weekday among other things is one here.
  private func isSupportedWeekday(at index: Int) -> Bool {
    guard let lexeme = self[index], lexeme.isOrdinaryWord else { return true }
    if let before = self[index - 1] {
      if before.means(.on) || before.means(.until) || before.isDash || before.selector != nil { return true }
    }
    guard let after = self[index + 1] else { return false }
    return after.dayPart != nil || after.month != nil || after.ordinal != nil || after.isDash
  }
}

extension PhraseGrammar {
  /// The largest count of units that is believed: two years of days. It also keeps all arithmetic far from overflow.
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

  /// Days or weeks after a day that is named.
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

    /// In whole days, where it is.
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

  /// Weeks and longer units are seldom meant to the day, so they are the week or month that is reached.
  private func expression(_ length: Length, sign: Int) -> DayExpression {
    switch length.unit {
    case .minute: .elapsed(minutes: sign * length.count)
    case .hour: .elapsed(minutes: sign * length.count * 60)
    case .day: .offset(sign * length.count)
    case .week, .weekend, .month, .year: .period(length.unit, offset: sign * length.count)
    }
  }
}

extension PhraseGrammar {
  /// A clock time or the stretch between two.
  /// - Parameter besideDay: whether a day comes directly before it.
  func clock(at index: Int, besideDay: Bool) -> Parsed<ClockExpression>? {
    let start = isClockPreposition(at: index) ? index + 1 : index
    let isExpected = start > index || besideDay || self[index - 1]?.event != nil
    if let pair = hourPair(at: start, isExpected: isExpected) { return pair }
    if let range = clockRange(at: start, isExpected: isExpected) { return range }
    guard let reading = reading(at: start, isExpected: isExpected, isBareAllowed: means(.at, at: index)) else {
      return nil
    }
    return Parsed(ClockExpression(start: reading.value, end: nil), end: reading.end)
  }

  /// A part of a day: after a day or a time, or with a preposition.
  func part(at index: Int, besideTime: Bool) -> Parsed<DayPart>? {
    if besideTime, let part = self[index]?.partOfDay?.part { return Parsed(part, end: index + 1) }
    let hasPreposition = means(.ahead, at: index) || means(.on, at: index) || means(.at, at: index)
    let start = skipping(.article, at: hasPreposition ? index + 1 : index)
    guard hasPreposition || besideTime && start == index || means(.of, at: start + 1), let part = self[start]?.dayPart
    else { return nil }
    return Parsed(part, end: start + 1)
  }

  private func isClockPreposition(at index: Int) -> Bool {
    means(.at, at: index) || means(.from, at: index) || means(.between, at: index)
  }

  /// Two readings with a word between them. Only the second needs a half of the day.
  private func clockRange(at index: Int, isExpected: Bool) -> Parsed<ClockExpression>? {
    let first = reading(at: index, isExpected: true, isBareAllowed: true)
    guard let first, joinsRange(at: first.end, begunAt: index),
      let last = reading(at: first.end + 1, isExpected: true, isBareAllowed: true),
      isExpected || self[first.end - 1]?.meridiem != nil || self[last.end - 1]?.meridiem != nil
    else { return nil }
    return Parsed(ClockExpression(start: first.value, end: last.value), end: last.end)
  }

  /// Two hours with a dash between them.
  private func hourPair(at index: Int, isExpected: Bool) -> Parsed<ClockExpression>? {
    guard let (first, last) = self[index]?.groups?.pair(separatedBy: "-") else { return nil }
    let meridiem = self[index + 1]?.meridiem
    guard meridiem != nil || isExpected && !countsSomething(at: index + 1),
      let start = ClockReading(hour: first, minute: 0, meridiem: nil),
      let end = ClockReading(hour: last, minute: 0, meridiem: meridiem)
    else { return nil }
    return Parsed(ClockExpression(start: start, end: end), end: meridiem == nil ? index + 1 : index + 2)
  }

  /// One clock time.
  /// - Parameters:
  ///   - isExpected: whether the context expects a time. Hours with minutes need it, because they may be scores.
  ///   - isBareAllowed: whether a lone number is an hour.
  private func reading(at index: Int, isExpected: Bool, isBareAllowed: Bool) -> Parsed<ClockReading>? {
    if let minutes = self[index]?.clockMinutes { return Parsed(ClockReading(minutes: minutes), end: index + 1) }
    if let past = self[index]?.minutesPast { return readingPast(past, at: index + 1) }
    if let groups = self[index]?.groups { return readingWithMinutes(groups, at: index, isExpected: isExpected) }
    return readingOfHour(at: index, isBareAllowed: isBareAllowed)
  }

  private func readingWithMinutes(_ groups: NumericToken, at index: Int, isExpected: Bool) -> Parsed<ClockReading>? {
    let meridiem = self[index + 1]?.meridiem
    let pair = groups.pair(separatedBy: ":") ?? (meridiem == nil ? nil : groups.pair(separatedBy: "."))
    guard let (hour, minute) = pair, groups.digits[1] == 2, meridiem != nil || isExpected,
      let reading = ClockReading(
        hour: hour, minute: minute, meridiem: meridiem, hasLeadingZero: groups.digits[0] == 2 && hour < 10)
    else { return nil }
    return Parsed(reading, end: meridiem == nil ? index + 1 : index + 2)
  }

  private func readingOfHour(at index: Int, isBareAllowed: Bool) -> Parsed<ClockReading>? {
    guard let lexeme = self[index], !lexeme.means(.article), let hour = lexeme.count else { return nil }
    if let digits = lexeme.digits, digits.digits[0] > 2 { return nil }
    let minute = spokenMinute(at: index + 1, afterWord: lexeme.digits == nil)
    let end = minute == nil ? index + 1 : index + 2
    if let meridiem = self[end]?.meridiem {
      return ClockReading(hour: hour, minute: minute ?? 0, meridiem: meridiem).map { Parsed($0, end: end + 1) }
    }
    let hasMark = means(.hourMark, at: end)
    guard hasMark || isBareAllowed && !countsSomething(at: end) else { return nil }
    return ClockReading(hour: hour, minute: minute ?? 0, meridiem: nil).map { Parsed($0, end: hasMark ? end + 1 : end) }
  }

  /// The minutes in *ten thirty*.
  private func spokenMinute(at index: Int, afterWord: Bool) -> Int? {
    guard afterWord, let lexeme = self[index], lexeme.digits == nil, let minute = lexeme.count else { return nil }
    return (10...59).contains(minute) ? minute : nil
  }

  /// The hour that minutes are counted from.
  private func readingPast(_ minutes: Int, at index: Int) -> Parsed<ClockReading>? {
    guard let lexeme = self[index] else { return nil }
    if let noon = lexeme.clockMinutes { return Parsed(ClockReading(minutes: noon + minutes), end: index + 1) }
    guard !lexeme.means(.article), let hour = lexeme.count, (1...12).contains(hour) else { return nil }
    let meridiem = self[index + 1]?.meridiem
    let total = hour % 12 * 60 + minutes
    let wrapped = total < 0 ? total + 720 : total
    let reading = ClockReading(hour: wrapped / 60 == 0 ? 12 : wrapped / 60, minute: wrapped % 60, meridiem: meridiem)
    return reading.map { Parsed($0, end: meridiem == nil ? index + 1 : index + 2) }
  }
}

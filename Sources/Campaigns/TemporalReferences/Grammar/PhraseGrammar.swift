/// Recognises temporal phrases among the lexemes of one sentence.
///
/// Each rule maps an index to the phrase that begins there and its end. A rule looks at a bounded number of lexemes
/// ahead and at one behind.
struct PhraseGrammar {
  let lexemes: [Lexeme]
  let order: NumericDateOrder
  let hasTwentyFourHours: Bool

  /// All phrases, in order and without overlap.
  func phrases() -> [TemporalPhrase] {
    var phrases: [TemporalPhrase] = []
    var index = 0
    while index < lexemes.count {
      guard let phrase = phrase(at: index) else {
        index += 1
        continue
      }
      phrases.append(phrase)
      index = phrase.lexemes.upperBound
    }
    return phrases
  }

  /// A phrase: a day, a clock time and a part of the day in any order, each at most once.
  private func phrase(at start: Int) -> TemporalPhrase? {
    var phrase = TemporalPhrase(lexemes: start..<start)
    while let longer = component(at: phrase.lexemes.upperBound, addedTo: phrase) { phrase = longer.value }
    return phrase.isEmpty ? nil : phrase
  }

  /// One more part of a phrase. A pause is only allowed between a day and its time.
  private func component(at index: Int, addedTo phrase: TemporalPhrase) -> Parsed<TemporalPhrase>? {
    if let component = dayComponent(at: index, addedTo: phrase) { return component }
    if let component = timeComponent(at: index, addedTo: phrase) { return component }
    guard phrase.day != nil, self[index]?.isPause == true else { return nil }
    return timeComponent(at: index + 1, addedTo: phrase)
  }

  private func dayComponent(at index: Int, addedTo phrase: TemporalPhrase) -> Parsed<TemporalPhrase>? {
    guard phrase.day == nil, !isDated(phrase, before: index) else { return nil }
    var phrase = phrase
    let start = isPreposition(index, continuing: !phrase.isEmpty) ? index + 1 : index
    if phrase.part == nil, let (part, offset) = self[start]?.partOfDay {
      // In "end of day tomorrow" the named day counts.
      let day = singleDay(at: start + 1) ?? Parsed(.offset(offset), end: start + 1)
      (phrase.day, phrase.part) = (day.value, part)
      return extended(phrase, to: day.end)
    }
    guard let day = day(at: start) else { return nil }
    phrase.day = day.value
    return extended(phrase, to: day.end)
  }

  private func timeComponent(at index: Int, addedTo phrase: TemporalPhrase) -> Parsed<TemporalPhrase>? {
    if case .elapsed = phrase.day { return nil }
    var phrase = phrase
    if phrase.clock == nil, let clock = clock(at: index, besideDay: phrase.day != nil) {
      phrase.clock = clock.value
      return extended(phrase, to: clock.end)
    }
    if phrase.part == nil, let part = part(at: index, besideTime: !phrase.isEmpty) {
      phrase.part = part.value
      return extended(phrase, to: part.end)
    }
    return nil
  }

  /// A count from now cannot extend another time.
  private func isDated(_ phrase: TemporalPhrase, before index: Int) -> Bool {
    !phrase.isEmpty && self[index]?.means(.ahead) == true
  }

  private func isPreposition(_ index: Int, continuing: Bool) -> Bool {
    guard let lexeme = self[index] else { return false }
    return lexeme.means(.on) || lexeme.means(.from) || lexeme.means(.between) || continuing && lexeme.means(.of)
  }

  private func extended(_ phrase: TemporalPhrase, to end: Int) -> Parsed<TemporalPhrase> {
    var phrase = phrase
    phrase.lexemes = phrase.lexemes.lowerBound..<end
    return Parsed(phrase, end: end)
  }
}

extension PhraseGrammar {
  subscript(index: Int) -> Lexeme? { lexemes.indices.contains(index) ? lexemes[index] : nil }

  func means(_ sense: WordSense, at index: Int) -> Bool { self[index]?.means(sense) == true }

  func skipping(_ sense: WordSense, at index: Int) -> Int { means(sense, at: index) ? index + 1 : index }

  func skippingPause(at index: Int) -> Int { self[index]?.isPause == true ? index + 1 : index }
}

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

extension PhraseGrammar {
  /// A clock time or the stretch between two.
  /// - Parameter besideDay: whether a day comes directly before it.
  func clock(at index: Int, besideDay: Bool) -> Parsed<ClockExpression>? {
    let start = skipping(.approximately, at: isClockPreposition(at: index) ? index + 1 : index)
    let isExpected = start > index || besideDay || self[index - 1]?.event != nil || means(.postponement, at: index - 1)
    if means(.at, at: index) || isExpected && [5, 25].contains(self[start]?.count),
      let reading = readingBefore(at: start)
    {
      return Parsed(ClockExpression(start: reading.value, end: nil), end: reading.end)
    }
    if let pair = hourPair(at: start, isExpected: isExpected) { return pair }
    if let range = clockRange(at: start, isExpected: isExpected) { return range }
    let isBareAllowed = means(.at, at: index)
    guard let reading = reading(at: start, isExpected: isExpected, isBareAllowed: isBareAllowed) else {
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

  /// Whether a day or a part of one follows, so that the number before it is an hour: *8 tonight*.
  private func precedesDay(at index: Int) -> Bool {
    guard let lexeme = self[index] else { return false }
    if lexeme.partOfDay != nil || lexeme.dayOffset != nil { return true }
    return (lexeme.means(.ahead) || lexeme.means(.at)) && self[skipping(.article, at: index + 1)]?.dayPart != nil
  }

  /// Whether any day follows, after *on* or not. Only minutes after the hour make sure that it is one.
  private func precedesAnyDay(at index: Int) -> Bool {
    precedesDay(at: index) || singleDay(at: skipping(.on, at: index)) != nil
  }

  /// Minutes before an hour: *ten to five*, which without a preposition is a stretch of hours.
  private func readingBefore(at index: Int) -> Parsed<ClockReading>? {
    guard let minutes = self[index]?.count, [5, 10, 20, 25].contains(minutes), means(.until, at: index + 1) else {
      return nil
    }
    return readingPast(-minutes, at: index + 2)
  }

  /// Hours and minutes without anything between them: *1430*, *915 am*.
  private func readingOfFour(_ digits: NumericToken, at index: Int, isBareAllowed: Bool) -> Parsed<ClockReading>? {
    guard let number = digits.single, digits.digits[0] > 2 else { return nil }
    let meridiem = self[index + 1]?.meridiem
    let isHour = digits.digits[0] == 4 || precedesDay(at: index + 1) || means(.at, at: index - 1)
    guard meridiem != nil || isHour && isBareAllowed && !(1900...2100).contains(number) else { return nil }
    let reading = ClockReading(
      hour: number / 100, minute: number % 100, meridiem: meridiem, hasLeadingZero: digits.digits[0] == 4)
    let end = meridiem == nil ? skipping(.hourMark, at: index + 1) : index + 2
    if meridiem == nil, countsSomething(at: end) { return nil }
    return reading.map { Parsed($0, end: end) }
  }

  /// Two readings with a word between them. Only the second needs a half of the day.
  private func clockRange(at index: Int, isExpected: Bool) -> Parsed<ClockExpression>? {
    let first = reading(at: index, isExpected: true, isBareAllowed: true)
    guard let first, joinsRange(at: first.end, begunAt: index),
      let last = reading(at: first.end + 1, isExpected: true, isBareAllowed: true),
      isExpected || self[first.end - 1]?.meridiem != nil || self[last.end - 1]?.meridiem != nil
        || precedesDay(at: last.end) || self[index]?.groups != nil && precedesAnyDay(at: last.end)
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
    if let groups = self[index]?.groups {
      return readingWithMinutes(
        groups, at: index, isExpected: isExpected || precedesAnyDay(at: index + 1), isBareAllowed)
    }
    let isFree = !means(.label, at: index - 1)
    if let digits = self[index]?.digits, digits.digits[0] > 2 {
      return readingOfFour(digits, at: index, isBareAllowed: isFree && (isExpected || precedesDay(at: index + 1)))
    }
    return readingOfHour(at: index, isBareAllowed: isBareAllowed || isFree && precedesDay(at: index + 1))
  }

  private func readingWithMinutes(
    _ groups: NumericToken, at index: Int, isExpected: Bool, _ isBareAllowed: Bool
  ) -> Parsed<ClockReading>? {
    let meridiem = self[index + 1]?.meridiem
    let isDotted = meridiem != nil || isBareAllowed || precedesDay(at: index + 1)
    let pair = groups.pair(separatedBy: ":") ?? (isDotted ? groups.pair(separatedBy: ".") : nil)
    guard let (hour, minute) = pair, groups.digits[1] == 2, meridiem != nil || isExpected,
      let reading = ClockReading(
        hour: hour, minute: minute, meridiem: meridiem,
        hasLeadingZero: hasTwentyFourHours || groups.digits[0] == 2 && hour < 10)
    else { return nil }
    return Parsed(reading, end: meridiem == nil ? skipping(.hourMark, at: index + 1) : index + 2)
  }

  private func readingOfHour(at index: Int, isBareAllowed: Bool) -> Parsed<ClockReading>? {
    guard let lexeme = self[index], !lexeme.means(.article), let hour = lexeme.count else { return nil }
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

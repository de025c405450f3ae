/// Recognises temporal phrases among the lexemes of one sentence.
///
/// Each rule maps an index to the phrase that begins there and its end. A rule looks at a bounded number of lexemes
/// ahead and at one behind.
struct PhraseGrammar {
  let lexemes: [Lexeme]
  let order: NumericDateOrder
  let hasTwentyFourHours: Bool

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

  subscript(index: Int) -> Lexeme? { lexemes.indices.contains(index) ? lexemes[index] : nil }

  func means(_ sense: WordSense, at index: Int) -> Bool { self[index]?.means(sense) == true }

  func skipping(_ sense: WordSense, at index: Int) -> Int { means(sense, at: index) ? index + 1 : index }

  func skippingPause(at index: Int) -> Int { self[index]?.isPause == true ? index + 1 : index }

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
    if lexeme.partOfDay != nil || lexeme.dayOffset != nil && !lexeme.means(.bound) { return true }
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

  private func hourPair(at index: Int, isExpected: Bool) -> Parsed<ClockExpression>? {
    guard let (first, last) = self[index]?.groups?.pair(separatedBy: "-") else { return nil }
    let meridiem = self[index + 1]?.meridiem
    guard meridiem != nil || isExpected && !countsSomething(at: index + 1),
      let start = ClockReading(hour: first, minute: 0, meridiem: nil),
      let end = ClockReading(hour: last, minute: 0, meridiem: meridiem)
    else { return nil }
    return Parsed(ClockExpression(start: start, end: end), end: meridiem == nil ? index + 1 : index + 2)
  }

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
    let hasMark = means(.hourMark, at: end)
    let meridiemIndex = hasMark ? end + 1 : end
    if let meridiem = self[meridiemIndex]?.meridiem {
      return ClockReading(hour: hour, minute: minute ?? 0, meridiem: meridiem).map {
        Parsed($0, end: meridiemIndex + 1)
      }
    }
    guard hasMark || isBareAllowed && !countsSomething(at: end) else { return nil }
    return ClockReading(hour: hour, minute: minute ?? 0, meridiem: nil).map { Parsed($0, end: hasMark ? end + 1 : end) }
  }

  /// The minutes in *ten thirty*.
  private func spokenMinute(at index: Int, afterWord: Bool) -> Int? {
    guard afterWord, let lexeme = self[index], lexeme.digits == nil, let minute = lexeme.count else { return nil }
    return (10...59).contains(minute) ? minute : nil
  }

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

/// Everything that one place of a text says about a time.
struct TemporalPhrase: Equatable {
  var day: DayExpression?
  var clock: ClockExpression?
  var part: DayPart?
  var lexemes: Range<Int>

  var isEmpty: Bool { day == nil && clock == nil && part == nil }
}

/// A day or stretch of days as a text names it, not yet resolved against the time of writing.
indirect enum DayExpression: Equatable {
  /// Counted from the message's day.
  case offset(Int)
  case weekday(Int, PeriodSelector?)
  /// A weekday of the week that is this many weeks later than the message's.
  case weekdayOfWeek(Int, weeks: Int)
  case date(month: Int, day: Int, year: Int?)
  /// A day of the month that is this many months later than the message's; nil without a month.
  case dayOfMonth(Int, months: Int?)
  case named(Int, DayExpression)
  /// A weekday of a month by its number; -1 is the last.
  case nthWeekday(Int, weekday: Int, month: DayExpression)
  case holiday(Holiday)
  /// A week, weekend, month or year, counted from the message's.
  case period(CalendarUnit, offset: Int)
  case endOfPeriod(CalendarUnit, offset: Int)
  case month(Int, year: Int?, isEnd: Bool)
  case later(days: Int, than: DayExpression)
  /// About as many weeks, months or years after the message.
  case about(CalendarUnit, count: Int)
  case range(DayExpression, DayExpression)
  /// Minutes after the message, or before it if negative.
  case elapsed(minutes: Int)
}

extension DayExpression {
  /// Whether the words alone place it in the future, so that a verb in the past belongs to something else.
  var isAhead: Bool {
    switch self {
    case .offset(let offset), .period(_, let offset), .endOfPeriod(_, let offset), .about(_, let offset): offset > 0
    case .weekday(_, let selector): selector == .next || selector == .coming
    case .weekdayOfWeek(_, let weeks): weeks > 0
    case .dayOfMonth(_, let months): (months ?? 0) > 0
    case .elapsed(let minutes): minutes > 0
    case .later: true
    case .range(let first, let last): first.isAhead || last.isAhead
    case .nthWeekday(_, _, let month): month.isAhead
    case .named(_, let day): day.isAhead
    case .date, .month, .holiday: false
    }
  }
}

struct ClockExpression: Equatable {
  let start: ClockReading
  let end: ClockReading?
}

struct ClockReading: Equatable {
  /// From midnight, `0 ... 1,440`; in the first half of the day when ``isAmbiguous``.
  let minutes: Int
  let isAmbiguous: Bool

  /// A time whose half of the day is known or does not matter.
  init(minutes: Int) {
    self.minutes = minutes
    isAmbiguous = false
  }

  /// An hour as written; nil when no clock shows it.
  ///
  /// With a half of the day the hour is 1 to 12. Without one, 1 to 12 are ambiguous unless a leading zero indicates the
  /// twenty-four-hour clock.
  init?(hour: Int, minute: Int, meridiem: Meridiem?, hasLeadingZero: Bool = false) {
    guard (0...59).contains(minute) else { return nil }
    if let meridiem {
      guard (1...12).contains(hour) else { return nil }
      minutes = hour % 12 * 60 + minute + (meridiem == .postMeridiem ? 720 : 0)
      isAmbiguous = false
    } else {
      guard hour * 60 + minute <= 1440 else { return nil }
      isAmbiguous = (1...12).contains(hour) && !hasLeadingZero
      minutes = (isAmbiguous ? hour % 12 : hour) * 60 + minute
    }
  }
}

/// A minute or an hour passes; the others are civil. A week is of ISO 8601, and a weekend ends it.
enum CalendarUnit: String, Hashable {
  case minute, hour, day, week, fortnight, weekend, month, year
}

enum Holiday: Hashable {
  case date(month: Int, day: Int)
  /// Days after the Easter Sunday of the Gregorian calendar, or before it if negative.
  case easter(days: Int)
  /// A weekday of a month by its number, 1 for Monday; -1 is the last. Days are counted on from there.
  case nth(Int, weekday: Int, month: Int, later: Int = 0)
}

enum PeriodSelector: String, Hashable {
  case this
  /// The first that begins after today.
  case coming
  /// In the following week, month or year.
  case next
  case afterNext
  case last
  /// All of them, which gives no date.
  case every

  /// Units after the message's own; nil for ``every``.
  var offset: Int? {
    switch self {
    case .this: 0
    case .coming, .next: 1
    case .afterNext: 2
    case .last: -1
    case .every: nil
    }
  }
}

struct DayPart: Hashable {
  /// Its minutes from the day's midnight, within `0 ..< 1,440`; the end is exclusive.
  let minutes: Range<Int>

  /// A part between two full hours of a day; 24 is its end.
  init(hours: Range<Int>) {
    precondition(!hours.isEmpty && hours.lowerBound >= 0 && hours.upperBound <= 24, "not hours of one day")
    minutes = hours.lowerBound * 60..<hours.upperBound * 60
  }

  static let morning = DayPart(hours: 4..<12)

  /// When people dine and go out.
  static let evening = DayPart(hours: 18..<22)

  /// The reading of a twelve-hour time that is in this part or closest to it, in minutes from midnight. It may be in
  /// the night that follows.
  func reading(of twelveHour: Int) -> Int {
    // One in the morning is before six, and not in the afternoon.
    if minutes.upperBound <= 720 { return twelveHour }
    return [twelveHour, twelveHour + 720, twelveHour + 1440].min { distance(to: $0) < distance(to: $1) } ?? twelveHour
  }

  /// The distance of a time from this part. The end counts as inside, so that twelve at night is midnight and not noon.
  private func distance(to time: Int) -> Int {
    max(0, minutes.lowerBound - time, time - minutes.upperBound)
  }
}

enum Meridiem: String, Hashable {
  case anteMeridiem = "am"
  case postMeridiem = "pm"
}

// Which days belong together, and which stand in each other's way.
extension SentenceReading {
  func touches(_ first: Int, _ second: Int) -> Bool {
    let (first, second) = (dated[first].phrase, dated[second].phrase)
    return first.lexemes.upperBound == second.lexemes.lowerBound && first.day != nil && second.day != nil
  }

  /// Whether another day of the clause has no event, so that the event may be on that one: *the talk about Black Friday
  /// is on Tuesday*.
  func isRivalled(_ index: Int) -> Bool {
    guard dated[index].mention != nil, let day = dated[index].phrase.day else { return false }
    let place = dated[index].phrase.lexemes
    return dated[(index + 1)...].contains { other in
      let rival = other.phrase.lexemes
      guard other.event == nil, let otherDay = other.phrase.day, otherDay.isSingleDay, otherDay != day else {
        return false
      }
      let isStated =
        map.lexemes[rival.lowerBound].means(.on) || map.lexeme(before: rival)?.means(.futureSense) == true
        || map.lexemes[rival.upperBound...].first?.means(.correction) == true
      return map.areInOneClause(place.lowerBound, rival.lowerBound) && (isStated || otherDay.isAhead)
        && !map.lexemes[place.upperBound..<rival.lowerBound].contains { $0.means(.and) || $0.means(.writers) }
    }
  }

  /// Places weekdays and days of the month in the week or month named before them: *next week: Tuesday and Thursday*.
  mutating func narrowDays(from earlier: (day: DayExpression, event: String?)?) {
    // A week without an event of its own is that of whatever follows: *Next week is hard. Exam on Thursday.*
    let continues = earlier.map { earlier in
      earlier.event == nil && earlier.day.isWeek || mentions.allSatisfy { $0.event == earlier.event }
    }
    var (period, holder): (DayExpression?, Int?) = (continues == true ? earlier?.day : nil, nil)
    var narrowed: Set<Int> = []
    for index in dated.indices {
      guard let day = dated[index].phrase.day else { continue }
      if let narrower = period.flatMap(day.narrowed) {
        dated[index].phrase.day = narrower
        guard let holder else { continue }
        dated[index].mention = dated[index].mention ?? dated[holder].mention
        narrowed.insert(holder)
      } else {
        let isPeriod = day.isPeriodAhead && map.isPeriod(dated[index].phrase.lexemes)
        (period, holder) = isPeriod ? (day.wholeWeeks ?? day, index) : (day.week, nil)
      }
    }
    if let holder, let period, narrowed.isEmpty { self.period = (period, dated[holder].event) }
    dated = dated.indices.filter { !narrowed.contains($0) }.map { dated[$0] }
  }
}

extension DayExpression {
  /// Whether it is a week or month that later days may be in.
  fileprivate var isPeriodAhead: Bool {
    switch self {
    case .period(.week, let offset), .period(.month, let offset): offset > 0
    case .month(_, _, let isEnd): !isEnd
    case .about(.week, let count): count > 0
    default: false
    }
  }

  /// The week that a count of weeks reaches.
  fileprivate var wholeWeeks: DayExpression? {
    if case .about(.week, let count) = self { return .period(.week, offset: count) }
    return nil
  }

  fileprivate var isWeek: Bool {
    if case .period(.week, _) = self { return true }
    return false
  }

  /// The week of a weekday that names it.
  fileprivate var week: DayExpression? {
    if case .weekdayOfWeek(_, let weeks) = self, weeks > 0 { return .period(.week, offset: weeks) }
    return nil
  }

  /// This day in a week or month; nil when it says itself where it is.
  fileprivate func narrowed(to period: DayExpression) -> DayExpression? {
    switch (self, period) {
    case (.weekday(let weekday, nil), .period(.week, let weeks)): .weekdayOfWeek(weekday, weeks: weeks)
    case (.dayOfMonth(let day, nil), .period(.month, let months)): .dayOfMonth(day, months: months)
    case (.dayOfMonth(let day, nil), .month(let month, let year, _)): .date(month: month, day: day, year: year)
    case (.named(let weekday, let day), _): day.narrowed(to: period).map { .named(weekday, $0) }
    default: nil
    }
  }
}

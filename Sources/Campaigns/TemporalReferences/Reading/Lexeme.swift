/// A phrase of the language, a number or a mark: the unit of the grammar.
struct Lexeme {
  enum Kind: Equatable {
    case meant([WordMeaning])
    /// A free-standing number.
    case number(NumericToken)
    /// A number written as a position, such as `15th`.
    case ordinal(Int)
    case mark(Token.Mark)
    /// An unknown word, or an amount.
    case unknown
    /// An unknown word without a vowel, such as *nxt*.
    case shortForm
  }

  let kind: Kind
  /// In UTF-8 bytes.
  let span: Range<Int>
  /// Whether an ending was removed, or is part of an unknown word.
  let hasClitic: Bool
}

extension Lexeme {
  var meanings: [WordMeaning] {
    if case .meant(let meanings) = kind { return meanings }
    return []
  }

  func means(_ sense: WordSense) -> Bool { meanings.contains(.sense(sense)) }

  func first<Value>(_ value: (WordMeaning) -> Value?) -> Value? {
    for meaning in meanings {
      if let value = value(meaning) { return value }
    }
    return nil
  }

  var isOrdinaryWord: Bool { means(.ordinaryWord) }
  var isUnknown: Bool { kind == .unknown || isShortForm }
  var isShortForm: Bool { kind == .shortForm }
  var isPause: Bool { kind == .mark(.pause) }
  var isDash: Bool { kind == .mark(.dash) }

  var month: Int? { first { if case .month(let month) = $0 { month } else { nil } } }
  var weekday: Int? { first { if case .weekday(let weekday) = $0 { weekday } else { nil } } }
  var dayOffset: Int? { first { if case .day(let offset) = $0 { offset } else { nil } } }
  var unit: CalendarUnit? { first { if case .unit(let unit) = $0 { unit } else { nil } } }
  var selector: PeriodSelector? { first { if case .selector(let selector) = $0 { selector } else { nil } } }
  var dayPart: DayPart? { first { if case .dayPart(let part) = $0 { part } else { nil } } }
  var clockMinutes: Int? { first { if case .clock(let minutes) = $0 { minutes } else { nil } } }
  var meridiem: Meridiem? { first { if case .meridiem(let meridiem) = $0 { meridiem } else { nil } } }
  var minutesPast: Int? { first { if case .minutesPast(let minutes) = $0 { minutes } else { nil } } }
  var duration: Int? { first { if case .duration(let minutes) = $0 { minutes } else { nil } } }
  var event: String? { first { if case .event(let event) = $0 { event } else { nil } } }

  var holiday: Holiday? { first { if case .holiday(let holiday) = $0 { holiday } else { nil } } }

  var partOfDay: (part: DayPart, offset: Int)? {
    first { if case .partOfDay(let part, let offset) = $0 { (part, offset) } else { nil } }
  }

  /// Whether it can happen again and again: *every week*, *every second Friday*, but not *every one of them*.
  var canRecur: Bool {
    unit != nil || weekday != nil || ordinal != nil || dayPart != nil || count != nil || month != nil
  }

  /// The number, in digits without separator.
  var digits: NumericToken? {
    if case .number(let number) = kind, number.groups.count == 1 { return number }
    return nil
  }

  /// The groups of digits with a separator.
  var groups: NumericToken? {
    if case .number(let number) = kind, number.groups.count > 1 { return number }
    return nil
  }

  /// The position, as a word or in digits.
  var ordinal: Int? {
    if case .ordinal(let ordinal) = kind { return ordinal }
    return first { if case .ordinal(let ordinal) = $0 { ordinal } else { nil } }
  }

  /// The count, as a word or in digits.
  var count: Int? {
    digits?.single ?? first { if case .number(let number) = $0 { number } else { nil } }
  }
}

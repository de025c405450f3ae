struct SentenceReader {
  /// The most tokens of one sentence. It bounds all work within a sentence, so the total is linear in the text. It is
  /// several times the longest sentence of a chat; a longer one is cut here, and a phrase across the cut is lost.
  static let tokensMax = 128

  private var tokenizer: Tokenizer
  private let language: TemporalLanguage

  init(_ text: String, in language: TemporalLanguage) {
    tokenizer = Tokenizer(text)
    self.language = language
  }

  /// The tokens of the next sentence without its terminator, and whether it is a question; nil at the end of the text.
  mutating func next() -> (tokens: [Token], isQuestion: Bool)? {
    var tokens: [Token] = []
    while tokens.count < Self.tokensMax, let token = tokenizer.next() {
      guard case .terminator(let isQuestion, let isFullStop) = token.kind else {
        tokens.append(token)
        continue
      }
      if tokens.isEmpty { continue }
      if isFullStop, token.isAdjacent, continuesSentence(&tokens[tokens.count - 1]) { continue }
      return (tokens, isQuestion)
    }
    return tokens.isEmpty ? nil : (tokens, false)
  }

  /// Whether a full stop belongs to the token before it: an abbreviation, or a number that it makes a position.
  private func continuesSentence(_ token: inout Token) -> Bool {
    if token.kind == .word {
      let isSuffix = token.isAdjacent && language.ordinalSuffixes.contains(token.text)
      return !isSuffix && language.abbreviations.contains(token.text)
    }
    guard language.hasOrdinalStops, case .number(var number) = token.kind, number.canBePosition else { return false }
    number.isPosition = true
    token.kind = .number(number)
    return true
  }
}

/// Finds the phrases of a language among the tokens of a sentence.
struct LexemeReader {
  let language: TemporalLanguage
  private let tokens: [Token]

  init(language: TemporalLanguage, tokens: [Token]) {
    self.language = language
    self.tokens = tokens.indices.map { index in
      var token = tokens[index]
      guard token.kind == .word else { return token }
      if token.isAdjacent, index > 0, case .number = tokens[index - 1].kind {
        token.text = language.numberSuffixes[token.text] ?? token.text
      } else {
        token.text = language.lexicon.corrected(token.text) ?? token.text
      }
      return token
    }
  }

  /// All lexemes in order. Every token belongs to one.
  func lexemes() -> [Lexeme] {
    var lexemes: [Lexeme] = []
    var index = 0
    while index < tokens.count {
      let lexeme = lexeme(at: index)
      lexemes.append(lexeme.value)
      index = lexeme.end
    }
    return lexemes
  }

  private func lexeme(at index: Int) -> Parsed<Lexeme> {
    if let phrase = language.lexicon.longestPhrase(in: tokens, from: index, stem: stem), isWhole(index..<phrase.end) {
      return parsed(.meant(phrase.value), phrase.end, hasClitic: stem(phrase.end - 1) != nil)
    }
    switch tokens[index].kind {
    case .word: return word(at: index)
    case .number(let number): return self.number(number, at: index)
    case .mark(let mark): return parsed(.mark(mark), index + 1)
    case .terminator, .opaque: return parsed(.unknown, index + 1)
    }
  }

  /// The word of a token without its possessive or verb; nil when it has none.
  private func stem(_ index: Int) -> String? {
    let text = tokens[index].text
    return language.clitics.first(where: text.hasSuffix).map { String(text.dropLast($0.count)) }
  }

  /// The shortest last part of a compound.
  private static let compoundMin = 4

  /// The event that the end of a compound names, without what else that word means; nil when it names none.
  private func compound(_ text: String) -> [WordMeaning]? {
    guard language.hasCompounds, text.count > Self.compoundMin else { return nil }
    for start in text.indices.dropFirst(2).dropLast(Self.compoundMin - 1) {
      let meanings = language.lexicon.meanings(of: String(text[start...]))
      if let event = meanings.first(where: { if case .event = $0 { true } else { false } }) { return [event] }
    }
    return nil
  }

  /// A word that is listed without its ending, or unknown.
  private func word(at index: Int) -> Parsed<Lexeme> {
    let text = tokens[index].text
    if let compound = compound(text) { return parsed(.meant(compound), index + 1) }
    guard let word = stem(index) else {
      let isPast = language.pastEndings.contains { text.hasSuffix($0) && text.utf8.count > $0.utf8.count + 2 }
      let isShort = !text.unicodeScalars.contains { "aeiouyäöü".unicodeScalars.contains($0) || $0.value > 0x17F }
      return parsed(isPast ? .meant([.sense(.pastForm)]) : isShort ? .shortForm : .unknown, index + 1)
    }
    let meanings = language.lexicon.meanings(of: language.lexicon.corrected(word) ?? word)
    return parsed(meanings.isEmpty ? .unknown : .meant(meanings), index + 1, hasClitic: true)
  }

  /// A number. It is unknown when a letter or sign touches it, as in an amount or a name.
  private func number(_ number: NumericToken, at index: Int) -> Parsed<Lexeme> {
    guard !touchesSomething(before: index) else { return parsed(.unknown, index + 1) }
    if number.isPosition, let ordinal = number.single { return parsed(.ordinal(ordinal), index + 1) }
    guard index + 1 < tokens.count, tokens[index + 1].isAdjacent else {
      return parsed(.number(number), index + 1)
    }
    let suffix = tokens[index + 1]
    switch suffix.kind {
    case .word: return numberWithSuffix(number, suffix.text, at: index)
    case .mark(.sign) where suffix.text == "@": return parsed(.number(number), index + 1)
    case .mark(.sign), .opaque: return parsed(.unknown, index + 2)
    case .number, .mark, .terminator: return parsed(.number(number), index + 1)
    }
  }

  private func numberWithSuffix(_ number: NumericToken, _ suffix: String, at index: Int) -> Parsed<Lexeme> {
    if language.ordinalSuffixes.contains(suffix), let ordinal = number.single {
      return parsed(.ordinal(ordinal), index + 2)
    }
    let isUnit = language.lexicon.meanings(of: suffix).contains {
      switch $0 {
      case .meridiem, .sense(.hourMark), .unit: true
      default: false
      }
    }
    return isUnit ? parsed(.number(number), index + 1) : parsed(.unknown, index + 2)
  }

  /// Whether an adjacent letter, sign or minus before the number gives it another meaning.
  private func touchesSomething(before index: Int) -> Bool {
    guard index > 0, tokens[index].isAdjacent, tokens[index - 1].text != "@" else { return false }
    switch tokens[index - 1].kind {
    case .word, .opaque, .mark(.sign): return true
    case .mark(.dash): return !tokens[index - 1].isAdjacent
    case .number, .mark, .terminator: return false
    }
  }

  /// Whether an adjacent letter or sign after the number gives it another meaning.
  private func isTouched(at index: Int) -> Bool {
    guard index < tokens.count, tokens[index].isAdjacent else { return false }
    switch tokens[index].kind {
    case .word, .opaque, .mark(.sign): return true
    case .number, .mark, .terminator: return false
    }
  }

  /// Whether a phrase that begins with a number is not part of something longer.
  private func isWhole(_ range: Range<Int>) -> Bool {
    if case .mark(.sign) = tokens[range.lowerBound].kind { return !touchesSomething(before: range.lowerBound) }
    guard case .number = tokens[range.lowerBound].kind else { return true }
    return !touchesSomething(before: range.lowerBound) && !isTouched(at: range.upperBound)
  }

  private func parsed(_ kind: Lexeme.Kind, _ end: Int, hasClitic: Bool = false) -> Parsed<Lexeme> {
    Parsed(Lexeme(kind: kind, hasClitic: hasClitic), end: end)
  }
}

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
  /// Whether an ending was removed, or is part of an unknown word.
  let hasClitic: Bool

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

struct SentenceReader {
  /// The most tokens of one sentence. It bounds all work within a sentence, so the total is linear in the text. It is
  /// several times the longest sentence of a chat; a longer one is cut here, and a phrase across the cut is lost.
  static let tokensMax = 128

  private var tokenizer: Tokenizer
  var position: Int { tokenizer.position }
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
  /// The numbers of a token's word, and of the word without its possessive or verb; nil for what is not listed.
  private struct Word {
    var whole: Int?
    var stem: Int?
    var hasClitic = false
  }

  let language: TemporalLanguage
  private var tokens: [Token] = []
  private var words: [Word] = []

  init(language: TemporalLanguage, tokens: [Token]) {
    self.language = language
    self.tokens.reserveCapacity(tokens.count)
    words.reserveCapacity(tokens.count)
    for token in tokens {
      guard let split = dayAndPart(token) else {
        add(token)
        continue
      }
      for text in split { add(Token(kind: .word, text: text, isAdjacent: false)) }
    }
  }

  /// The day and its part of a compound such as *Montagabend*.
  private func dayAndPart(_ token: Token) -> [String]? {
    guard language.hasCompounds, token.kind == .word, language.lexicon.number(of: token.text, isExact: true) == nil
    else {
      return nil
    }
    func values(_ text: Substring) -> WordMeaning.Values? {
      language.lexicon.number(of: String(text), isExact: true).flatMap(language.lexicon.meaning)?.values
    }
    let text = token.text
    return text.indices.dropFirst(Self.compoundMin).lazy.filter { values(text[..<$0])?.weekday != nil }.compactMap {
      end in
      let part = values(text[end...])
      return part?.dayPart != nil ? [String(text[..<end]), String(text[end...])] : nil
    }.first
  }

  private mutating func add(_ token: Token) {
    var (token, word) = (token, Word())
    if token.kind == .word {
      if token.isAdjacent, case .number = tokens.last?.kind {
        token.text = language.numberSuffixes[token.text] ?? token.text
      }
      if token.text.utf8.contains(UInt8(ascii: "'")), let clitic = language.clitics.first(where: token.text.hasSuffix) {
        word.hasClitic = true
        word.stem = language.lexicon.number(of: String(token.text.dropLast(clitic.count)))
      }
    }
    let isExact = word.hasClitic || token.kind != .word
    word.whole = language.lexicon.number(of: token.text, isExact: isExact)
    tokens.append(token)
    words.append(word)
  }

  /// All lexemes in order. Every token belongs to one.
  func lexemes() -> [Lexeme] {
    var lexemes: [Lexeme] = []
    lexemes.reserveCapacity(tokens.count)
    var index = 0
    while index < tokens.count {
      let lexeme = lexeme(at: index)
      lexemes.append(lexeme.value)
      index = lexeme.end
    }
    return lexemes
  }

  private func lexeme(at index: Int) -> Parsed<Lexeme> {
    if let phrase = language.lexicon.longestPhrase(
      from: index, to: words.count, in: { (words[$0].whole, words[$0].stem) }),
      isWhole(index..<phrase.end)
    {
      return Parsed(Lexeme(phrase.value, hasClitic: words[phrase.end - 1].hasClitic), end: phrase.end)
    }
    switch tokens[index].kind {
    case .word: return Parsed(word(at: index), end: index + 1)
    case .number(let number): return self.number(number, at: index)
    case .mark(let mark): return Parsed(Lexeme(kind: .mark(mark)), end: index + 1)
    case .terminator, .opaque: return Parsed(Lexeme(kind: .unknown), end: index + 1)
    }
  }

  private static let compoundMin = 4

  /// The event that the end of a compound names, without what else that word means; nil when it names none.
  private func compound(_ text: String) -> String? {
    guard language.hasCompounds, text.count > Self.compoundMin else { return nil }
    return text.indices.dropFirst(2).dropLast(Self.compoundMin - 1).lazy.compactMap { start in
      language.lexicon.number(of: String(text[start...]), isExact: true).flatMap {
        language.lexicon.meaning(of: $0)?.values.event
      }
    }.first
  }

  private static let pastForm = WordMeaning().adding(["pastForm"])

  /// A word that is listed without its ending, or unknown.
  private func word(at index: Int) -> Lexeme {
    let text = tokens[index].text
    if let event = compound(text) { return Lexeme(WordMeaning().adding(["event " + event])) }
    if words[index].hasClitic {
      let meaning = words[index].stem.flatMap(language.lexicon.meaning)
      return meaning.map { Lexeme($0, hasClitic: true) } ?? Lexeme(kind: .unknown, hasClitic: true)
    }
    if language.pastEndings.contains(where: { text.hasSuffix($0) && text.utf8.count > $0.utf8.count + 2 }) {
      return Lexeme(Self.pastForm)
    }
    let isShort = !text.unicodeScalars.contains { "aeiouyäöü".unicodeScalars.contains($0) || $0.value > 0x17F }
    return Lexeme(kind: isShort ? .shortForm : .unknown)
  }

  /// A number. It is unknown when a letter or sign touches it, as in an amount or a name.
  private func number(_ number: NumericToken, at index: Int) -> Parsed<Lexeme> {
    let (plain, unknown) = (Lexeme(kind: .number, number: number), Lexeme(kind: .unknown))
    guard !touchesSomething(before: index) else { return Parsed(unknown, end: index + 1) }
    if number.isPosition, number.single != nil { return Parsed(Lexeme(kind: .ordinal, number: number), end: index + 1) }
    guard index + 1 < tokens.count, tokens[index + 1].isAdjacent else { return Parsed(plain, end: index + 1) }
    let suffix = tokens[index + 1]
    switch suffix.kind {
    case .word: return numberWithSuffix(number, suffix.text, at: index)
    case .mark(.sign) where suffix.text == "@": return Parsed(plain, end: index + 1)
    case .mark(.sign), .opaque: return Parsed(unknown, end: index + 2)
    case .number, .mark, .terminator: return Parsed(plain, end: index + 1)
    }
  }

  private func numberWithSuffix(_ number: NumericToken, _ suffix: String, at index: Int) -> Parsed<Lexeme> {
    if language.ordinalSuffixes.contains(suffix), number.single != nil {
      return Parsed(Lexeme(kind: .ordinal, number: number), end: index + 2)
    }
    let meaning = words[index + 1].whole.flatMap(language.lexicon.meaning)?.values
    let isUnit = meaning.map { $0.meridiem != nil || $0.unit != nil || $0.senses.contains(.hourMark) } == true
    return isUnit
      ? Parsed(Lexeme(kind: .number, number: number), end: index + 1) : Parsed(Lexeme(kind: .unknown), end: index + 2)
  }

  /// Whether an adjacent letter, sign or minus before the number gives it another meaning.
  private func touchesSomething(before index: Int) -> Bool {
    guard index > 0, tokens[index].isAdjacent, tokens[index - 1].text != "@" else { return false }
    return tokens[index - 1].kind == .mark(.dash)
      ? !tokens[index - 1].isAdjacent : tokens[index - 1].changesNumbers
  }

  /// Whether a phrase that begins with a number is not part of something longer.
  private func isWhole(_ range: Range<Int>) -> Bool {
    if case .mark(.sign) = tokens[range.lowerBound].kind { return !touchesSomething(before: range.lowerBound) }
    guard case .number = tokens[range.lowerBound].kind else { return true }
    let next = range.upperBound < tokens.count ? tokens[range.upperBound] : nil
    return !touchesSomething(before: range.lowerBound) && next.map { $0.isAdjacent && $0.changesNumbers } != true
  }
}

extension Token {
  /// Whether a number that touches it is no number.
  fileprivate var changesNumbers: Bool { kind == .word || kind == .opaque || kind == .mark(.sign) }
}

/// A phrase of the language, a number or a mark: the unit of the grammar.
@dynamicMemberLookup
struct Lexeme {
  enum Kind: Equatable {
    case word
    case number
    /// A number written as a position, such as `15th`.
    case ordinal
    case mark(Token.Mark)
    /// An unknown word, or an amount.
    case unknown
    /// An unknown word without a vowel, such as *nxt*.
    case shortForm
  }

  let kind: Kind
  /// Whether an ending was removed, or is part of an unknown word.
  let hasClitic: Bool
  let senses: WordSenses
  private let meaning: WordMeaning?
  private let number: NumericToken?

  init(_ meaning: WordMeaning, hasClitic: Bool = false) {
    (kind, self.hasClitic, senses, self.meaning, number) = (.word, hasClitic, meaning.values.senses, meaning, nil)
  }

  init(kind: Kind, number: NumericToken? = nil, hasClitic: Bool = false) {
    (self.kind, self.hasClitic, senses, meaning, self.number) = (kind, hasClitic, WordSenses(), nil, number)
  }

  func means(_ sense: WordSense) -> Bool { senses.contains(sense) }

  var isOrdinaryWord: Bool { means(.ordinaryWord) }
  var isUnknown: Bool { kind == .unknown || isShortForm }
  var isShortForm: Bool { kind == .shortForm }
  var isPause: Bool { kind == .mark(.pause) }
  var isDash: Bool { kind == .mark(.dash) }

  subscript<Value>(dynamicMember value: KeyPath<WordMeaning.Values, Value?>) -> Value? {
    meaning?.values[keyPath: value]
  }

  /// Whether it can happen again and again: *every week*, *every second Friday*, but not *every one of them*.
  var canRecur: Bool {
    self.unit != nil || self.weekday != nil || ordinal != nil || self.dayPart != nil || count != nil
      || self.month != nil
  }

  var digits: NumericToken? { kind == .number && number?.groups.count == 1 ? number : nil }

  var groups: NumericToken? { kind == .number && number?.groups.count != 1 ? number : nil }

  var ordinal: Int? { kind == .ordinal ? number?.single : meaning?.values.ordinal }

  var count: Int? { digits?.single ?? meaning?.values.number }
}

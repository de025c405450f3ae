/// Splits a text into sentences.
struct SentenceReader {
  /// The most tokens of one sentence. It bounds all work within a sentence, so the total is linear in the text. It is
  /// several times the longest sentence of a chat; a longer one is cut here, and a phrase across the cut is lost.
  static let tokensMax = 128

  private var tokenizer: Tokenizer
  private let abbreviations: Set<String>

  init(_ text: String, abbreviations: Set<String>) {
    tokenizer = Tokenizer(text)
    self.abbreviations = abbreviations
  }

  /// The tokens of the next sentence without its terminator, and whether it is a question; nil at the end of the text.
  mutating func next() -> (tokens: [Token], isQuestion: Bool)? {
    var tokens: [Token] = []
    while tokens.count < Self.tokensMax, let token = tokenizer.next() {
      guard case .terminator(let isQuestion, let isFullStop) = token.kind else {
        tokens.append(token)
        continue
      }
      if tokens.isEmpty || isFullStop && abbreviates(tokens[tokens.count - 1], before: token) { continue }
      return (tokens, isQuestion)
    }
    return tokens.isEmpty ? nil : (tokens, false)
  }

  /// Whether the full stop belongs to the word before it.
  private func abbreviates(_ word: Token, before stop: Token) -> Bool {
    stop.isAdjacent && word.kind == .word && abbreviations.contains(word.text)
  }
}

/// Finds the phrases of a language among the tokens of a sentence.
struct LexemeReader {
  let language: TemporalLanguage
  let tokens: [Token]

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
    if let phrase = language.lexicon.longestPhrase(in: tokens, from: index), isWhole(index..<phrase.end) {
      return parsed(.meant(phrase.value), index, phrase.end)
    }
    switch tokens[index].kind {
    case .word: return word(at: index)
    case .number(let number): return self.number(number, at: index)
    case .mark(let mark): return parsed(.mark(mark), index, index + 1)
    case .terminator, .opaque: return parsed(.unknown, index, index + 1)
    }
  }

  /// A word that is listed without its ending, or unknown.
  private func word(at index: Int) -> Parsed<Lexeme> {
    let text = tokens[index].text
    guard let clitic = language.clitics.first(where: { text.hasSuffix($0) }) else {
      return parsed(.unknown, index, index + 1)
    }
    let meanings = language.lexicon.meanings(of: String(text.dropLast(clitic.count)))
    return parsed(meanings.isEmpty ? .unknown : .meant(meanings), index, index + 1, hasClitic: true)
  }

  /// A number. It is unknown when a letter or sign touches it, as in an amount or a name.
  private func number(_ number: NumericToken, at index: Int) -> Parsed<Lexeme> {
    guard !touchesSomething(before: index) else { return parsed(.unknown, index, index + 1) }
    guard index + 1 < tokens.count, tokens[index + 1].isAdjacent else {
      return parsed(.number(number), index, index + 1)
    }
    let suffix = tokens[index + 1]
    switch suffix.kind {
    case .word: return numberWithSuffix(number, suffix.text, at: index)
    case .mark(.sign), .opaque: return parsed(.unknown, index, index + 2)
    case .number, .mark, .terminator: return parsed(.number(number), index, index + 1)
    }
  }

  private func numberWithSuffix(_ number: NumericToken, _ suffix: String, at index: Int) -> Parsed<Lexeme> {
    if language.ordinalSuffixes.contains(suffix), let ordinal = number.single {
      return parsed(.ordinal(ordinal), index, index + 2)
    }
    let isClock = language.lexicon.meanings(of: suffix).contains { if case .meridiem = $0 { true } else { false } }
    return isClock ? parsed(.number(number), index, index + 1) : parsed(.unknown, index, index + 2)
  }

  /// Whether an adjacent letter, sign or minus before the number gives it another meaning.
  private func touchesSomething(before index: Int) -> Bool {
    guard index > 0, tokens[index].isAdjacent else { return false }
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
    guard case .number = tokens[range.lowerBound].kind else { return true }
    return !touchesSomething(before: range.lowerBound) && !isTouched(at: range.upperBound)
  }

  private func parsed(_ kind: Lexeme.Kind, _ start: Int, _ end: Int, hasClitic: Bool = false) -> Parsed<Lexeme> {
    let span = tokens[start].span.lowerBound..<tokens[end - 1].span.upperBound
    return Parsed(Lexeme(kind: kind, span: span, hasClitic: hasClitic), end: end)
  }
}

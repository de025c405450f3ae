/// A word, number or mark of a text.
struct Token: Equatable {
  enum Kind: Equatable {
    /// Letters, in lower case.
    case word
    /// Digits, possibly in groups.
    case number(NumericToken)
    case mark(Mark)
    /// The end of a sentence.
    case terminator(isQuestion: Bool, isFullStop: Bool)
    /// Something too long or too strange to mean anything.
    case opaque
  }

  /// Punctuation that tells where statements and ranges are.
  enum Mark: Equatable {
    /// A pause: comma, colon, emoji.
    case pause
    /// Separates statements: semicolon, long dash.
    case divide
    /// A hyphen or short dash.
    case dash
    /// A currency, percent or other sign that makes an adjacent number an amount.
    case sign
  }

  let kind: Kind
  /// What the lexicon knows it by; empty when it can be in no phrase.
  let text: String
  /// In UTF-8 bytes.
  let span: Range<Int>
  /// Whether it follows the token before it directly.
  let isAdjacent: Bool
}

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

/// Groups of digits with one kind of separator between them, such as `15`, `3:30`, `2/20` or `2026-03-15`.
struct NumericToken: Equatable {
  /// The numbers, at least one and at most three, each below 10,000.
  let groups: [Int]
  /// How many digits each was written with.
  let digits: [Int]
  /// What stands between them; nil for a single one.
  let separator: Unicode.Scalar?

  /// The number, when it is a single one.
  var single: Int? { groups.count == 1 ? groups[0] : nil }

  /// Both numbers, when there are two with this separator.
  func pair(separatedBy separator: Unicode.Scalar) -> (Int, Int)? {
    groups.count == 2 && self.separator == separator ? (groups[0], groups[1]) : nil
  }
}

/// Something that was read, and where reading goes on.
struct Parsed<Value> {
  let value: Value
  /// The index after the last that belongs to it.
  let end: Int

  init(_ value: Value, end: Int) {
    self.value = value
    self.end = end
  }
}

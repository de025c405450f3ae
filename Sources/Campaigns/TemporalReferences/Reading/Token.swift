struct Token: Equatable {
  enum Kind: Equatable {
    /// Letters, in lower case.
    case word
    case number(NumericToken)
    case mark(Mark)
    case terminator(isQuestion: Bool, isFullStop: Bool)
    /// Too long or too unusual to have a meaning.
    case opaque
  }

  /// Punctuation that delimits statements and ranges.
  enum Mark: Equatable {
    /// A pause: comma, colon, emoji.
    case pause
    /// Separates statements: semicolon, long dash.
    case divide
    /// A hyphen or short dash.
    case dash
    /// A currency, percent or other sign that makes an adjacent number an amount.
    case sign
    case quote
  }

  var kind: Kind
  /// The lexicon's key; empty when no phrase can contain it.
  var text: String
  /// In UTF-8 bytes.
  let span: Range<Int>
  /// Whether nothing separates it from the token before.
  let isAdjacent: Bool
}

/// Groups of digits with one kind of separator between them, such as `15`, `3:30`, `2/20` or `2026-03-15`.
struct NumericToken: Equatable {
  /// The numbers, at least one and at most three, each below 10,000.
  let groups: [Int]
  /// The number of digits of each group as written.
  let digits: [Int]
  /// The character between them; nil for a single group.
  let separator: Unicode.Scalar?
  /// Whether a full stop after it makes it a position, as German writes dates: `20.` or `20.4.`
  var isPosition = false

  var single: Int? { groups.count == 1 ? groups[0] : nil }

  /// Whether it can be a day, or a day and its month.
  var canBePosition: Bool {
    groups.count <= 2 && digits.allSatisfy { $0 <= 2 } && (groups.count == 1 || separator == ".")
  }

  func pair(separatedBy separator: Unicode.Scalar) -> (Int, Int)? {
    groups.count == 2 && self.separator == separator ? (groups[0], groups[1]) : nil
  }
}

/// A parsed value and the index where parsing continues.
struct Parsed<Value> {
  let value: Value
  let end: Int

  init(_ value: Value, end: Int) {
    self.value = value
    self.end = end
  }
}

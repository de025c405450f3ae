/// Cuts a text into tokens. Each scalar is read a bounded number of times.
struct Tokenizer {
  /// The longest word that is looked up, in scalars. The longest English one here has 13; German compounds have less than 40.
  static let wordScalarsMax = 40

  let scalars: [Unicode.Scalar]
  private(set) var position = 0
  private var previousEnd = -1

  init(_ text: String) {
    scalars = Array(text.unicodeScalars)
  }

  mutating func next() -> Token? {
    while position < scalars.count {
      let start = position
      guard let (kind, text) = read() else { continue }
      defer { previousEnd = position }
      return Token(kind: kind, text: text, isAdjacent: previousEnd == start)
    }
    return nil
  }

  /// The scalar `distance` after the next one; nil past the end.
  func scalar(ahead distance: Int = 0) -> Unicode.Scalar? {
    let index = position + distance
    return index < scalars.count ? scalars[index] : nil
  }

  mutating func advance() { position += 1 }

  private mutating func read() -> (Token.Kind, String)? {
    let scalar = scalars[position]
    if scalar.isDigit { return readNumber() }
    if scalar.isLetter { return readWord() }
    advance()
    return Self.kind(of: scalar).map {
      ($0, $0 == .mark(.dash) ? "-" : scalar == "@" || scalar == "&" ? String(scalar) : "")
    }
  }

  /// The kind of a scalar outside words and numbers; nil for space and decoration.
  private static func kind(of scalar: Unicode.Scalar) -> Token.Kind? {
    switch scalar {
    case ".": .terminator(isQuestion: false, isFullStop: true)
    case "?", "\u{FF1F}": .terminator(isQuestion: true, isFullStop: false)
    case "!", "\n", "\r", "\u{2026}", "\u{2028}", "\u{2029}", "\u{3002}":
      .terminator(isQuestion: false, isFullStop: false)
    case ",", ":": .mark(.pause)
    case ";", "\u{2014}": .mark(.divide)
    case "-", "\u{2010}"..."\u{2013}": .mark(.dash)
    case "\"", "\u{201C}"..."\u{201F}", "\u{AB}", "\u{BB}": .mark(.quote)
    case "$", "%", "#", "+", "@", "/", "=", "<", ">", "&", "^", "\\", "|": .mark(.sign)
    case "\u{0}"..."\u{A0}": nil
    default: unusualKind(of: scalar)
    }
  }

  /// Emoji and other pictures separate statements like a comma; other scalars have no effect.
  private static func unusualKind(of scalar: Unicode.Scalar) -> Token.Kind? {
    switch scalar.properties.generalCategory {
    case .currencySymbol: .mark(.sign)
    case .otherSymbol: .mark(.pause)
    default: nil
    }
  }
}

extension Unicode.Scalar {
  /// An ASCII digit. Other scripts' digits belong to other languages' tables.
  var isDigit: Bool { value >= 0x30 && value <= 0x39 }

  var isLetter: Bool {
    if value < 0x80 { return (value | 0x20) >= 0x61 && (value | 0x20) <= 0x7A }
    return value >= 0xAA && properties.isAlphabetic
  }

  var isMark: Bool {
    value >= 0x300 && properties.canonicalCombiningClass != .notReordered
  }

  var isApostrophe: Bool { value == 0x27 || value == 0x2019 }
}

extension Tokenizer {
  /// Reads a word: letters with their marks and apostrophes between letters. Full stops between single letters are
  /// dropped, so that `p.m.` is `pm`.
  mutating func readWord() -> (Token.Kind, String) {
    var word = String.UnicodeScalarView()
    var scalarsRead = 0
    while let scalar = scalar(), continuesWord(scalar, after: scalarsRead) {
      if scalar != ".", scalarsRead < Self.wordScalarsMax { word.append(lowercased: scalar) }
      scalarsRead += 1
      advance()
    }
    guard scalarsRead <= Self.wordScalarsMax else { return (.opaque, "") }
    return (.word, String(word))
  }

  private func continuesWord(_ scalar: Unicode.Scalar, after scalarsRead: Int) -> Bool {
    if scalar.isLetter || scalar.isMark { return true }
    if scalar.isApostrophe { return self.scalar(ahead: 1)?.isLetter == true }
    return scalar == "." && isInitialism(after: scalarsRead)
  }

  /// Whether the full stop here belongs to an abbreviation: it follows a single letter, and another single letter is
  /// next to it or before it.
  private func isInitialism(after scalarsRead: Int) -> Bool {
    guard scalarsRead % 2 == 1, scalarsRead < Self.wordScalarsMax else { return false }
    if scalarsRead > 1 { return scalars[position - 2] == "." }
    return scalar(ahead: 1)?.isLetter == true && scalar(ahead: 2) == "."
  }
}

extension String.UnicodeScalarView {
  fileprivate mutating func append(lowercased scalar: Unicode.Scalar) {
    if scalar.isApostrophe {
      append("'")
    } else if scalar.value < 0x80 {
      append(Unicode.Scalar(UInt8(scalar.value) | 0x20))
    } else {
      append(contentsOf: scalar.properties.lowercaseMapping.unicodeScalars)
    }
  }
}

extension Tokenizer {
  /// The most digits of one group: a year's.
  private static let digitsMax = 4
  /// The most groups: a date's.
  private static let groupsMax = 3

  /// Reads digits and the separators between them.
  ///
  /// Too many digits or groups, mixed separators and thousands are opaque: they are telephone numbers, addresses,
  /// versions or prices. A dash after a clock time or date ends the number: the other end of a range follows.
  mutating func readNumber() -> (Token.Kind, String) {
    var groups = [readGroup()]
    var separator: Unicode.Scalar?
    var isUniform = true
    while let next = separatorAhead(after: separator) {
      isUniform = isUniform && next == separator ?? next
      separator = next
      advance()
      let group = readGroup()
      if groups.count <= Self.groupsMax { groups.append(group) }
    }
    guard isUniform, separator != ",", groups.count <= Self.groupsMax,
      groups.allSatisfy({ $0.digits <= Self.digitsMax })
    else { return (.opaque, "") }
    let token = NumericToken(groups: groups.map(\.value), digits: groups.map(\.digits), separator: separator)
    return (.number(token), token.spelling)
  }

  private mutating func readGroup() -> (value: Int, digits: Int) {
    var value = 0
    var digits = 0
    while let scalar = scalar(), scalar.isDigit {
      digits += 1
      if digits <= Self.digitsMax { value = value * 10 + Int(scalar.value) - 0x30 }
      advance()
    }
    return (value, digits)
  }

  /// The separator here, if digits follow it. All dashes count as hyphens.
  private func separatorAhead(after separator: Unicode.Scalar?) -> Unicode.Scalar? {
    guard let scalar = scalar(), self.scalar(ahead: 1)?.isDigit == true else { return nil }
    switch scalar {
    case "/", ".", ":": return scalar
    case "h", "H": return separator == nil ? ":" : nil
    case "-", "\u{2010}"..."\u{2013}": return separator == nil || separator == "-" ? "-" : nil
    case ",": return hasThousands ? scalar : nil
    default: return nil
    }
  }

  /// Whether exactly three digits follow the comma here, as in a large number.
  private var hasThousands: Bool {
    (1...3).allSatisfy { scalar(ahead: $0)?.isDigit == true } && scalar(ahead: 4)?.isDigit != true
  }
}

extension NumericToken {
  /// As the lexicon lists it: leading zeros are dropped.
  fileprivate var spelling: String {
    groups.map(String.init).joined(separator: separator.map { String($0) } ?? "")
  }
}

struct Token: Equatable {
  enum Kind: Equatable {
    case word
    case number(NumericToken)
    case mark(Mark)
    case terminator(isQuestion: Bool, isFullStop: Bool)
    /// Too long or too unusual to have a meaning.
    case opaque
  }

  enum Mark: Equatable {
    /// Commas, colons and emoji are pauses; semicolons and long dashes divide statements.
    case pause, divide, dash, quote
    /// A currency, percent or other sign that makes an adjacent number an amount.
    case sign
  }

  var kind: Kind
  /// The lexicon's key; empty when no phrase can contain it.
  var text: String
  let isAdjacent: Bool
}

/// Groups of digits with one kind of separator between them, such as `15`, `3:30`, `2/20` or `2026-03-15`.
struct NumericToken: Equatable {
  /// The numbers, at least one and at most three, each below 10,000.
  let groups: [Int]
  let digits: [Int]
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

struct Parsed<Value> {
  let value: Value
  let end: Int

  init(_ value: Value, end: Int) {
    self.value = value
    self.end = end
  }
}

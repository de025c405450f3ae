/// Cuts a text into tokens, each scalar looked at a bounded number of times.
struct Tokenizer {
  /// The longest word that is compared with a language's, in scalars. The longest of English here has 13; German
  /// compounds stay below 40.
  static let wordScalarsMax = 40

  let scalars: [Unicode.Scalar]
  private(set) var position = 0
  /// UTF-8 bytes before ``position``.
  private(set) var offset = 0
  /// Where the previous token ended, in UTF-8 bytes.
  private var previousEnd = -1

  init(_ text: String) {
    scalars = Array(text.unicodeScalars)
  }

  /// The next token; nil at the end of the text.
  mutating func next() -> Token? {
    while position < scalars.count {
      let start = offset
      guard let (kind, text) = read() else { continue }
      defer { previousEnd = offset }
      return Token(kind: kind, text: text, span: start..<offset, isAdjacent: previousEnd == start)
    }
    return nil
  }

  /// The scalar `distance` after the next one; nil past the end.
  func scalar(ahead distance: Int = 0) -> Unicode.Scalar? {
    let index = position + distance
    return index < scalars.count ? scalars[index] : nil
  }

  mutating func advance() {
    offset += scalars[position].utf8Width
    position += 1
  }

  /// Reads what begins here; nil when it is nothing but space.
  private mutating func read() -> (Token.Kind, String)? {
    let scalar = scalars[position]
    if scalar.isDigit { return readNumber() }
    if scalar.isLetter { return readWord() }
    advance()
    return Self.kind(of: scalar).map { ($0, $0 == .mark(.dash) ? "-" : "") }
  }

  /// What a scalar outside words and numbers is; nil for space and for what only decorates words.
  private static func kind(of scalar: Unicode.Scalar) -> Token.Kind? {
    switch scalar {
    case ".": .terminator(isQuestion: false, isFullStop: true)
    case "?", "\u{FF1F}": .terminator(isQuestion: true, isFullStop: false)
    case "!", "\n", "\r", "\u{2026}", "\u{2028}", "\u{2029}", "\u{3002}":
      .terminator(isQuestion: false, isFullStop: false)
    case ",", ":": .mark(.pause)
    case ";", "\u{2014}": .mark(.divide)
    case "-", "\u{2010}"..."\u{2013}": .mark(.dash)
    case "$", "%", "#", "+", "@", "/", "=", "<", ">", "&", "^", "\\", "|": .mark(.sign)
    case "\u{0}"..."\u{A0}": nil
    default: unusualKind(of: scalar)
    }
  }

  /// An emoji and other pictures separate statements as a comma does; other scalars do nothing.
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

  /// Whether it is part of a word.
  var isLetter: Bool {
    if value < 0x80 { return (value | 0x20) >= 0x61 && (value | 0x20) <= 0x7A }
    return value >= 0xAA && properties.isAlphabetic
  }

  /// Whether it belongs to the letter before it.
  var isMark: Bool {
    value >= 0x300 && properties.canonicalCombiningClass != .notReordered
  }

  var isApostrophe: Bool { value == 0x27 || value == 0x2019 }

  var utf8Width: Int {
    switch value {
    case ..<0x80: 1
    case ..<0x800: 2
    case ..<0x1_0000: 3
    default: 4
    }
  }
}

/// What one scalar of a text is when texts are compared without case, accents and punctuation.
enum FoldedScalar: Equatable {
  /// A letter or digit in lower case without accents.
  case letter(Unicode.Scalar)
  /// Nothing: an accent of its own, an apostrophe or a character nobody sees. The word goes on.
  case nothing
  /// The end of a word.
  case separator

  init(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "a"..."z", "0"..."9": self = .letter(scalar)
    case "A"..."Z": self = .letter(Unicode.Scalar(UInt8(scalar.value) + 32))
    case "'", "\u{2018}", "\u{2019}", "\u{201B}", "\u{02BC}", "\u{FF07}", "\u{B4}", "`": self = .nothing
    case "\0"..."\u{7F}": self = .separator
    default: self = Self.beyondASCII(scalar)
    }
  }

  private static func beyondASCII(_ scalar: Unicode.Scalar) -> FoldedScalar {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return .nothing
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter: return .letter(lowerCase(scalar))
    case .otherLetter, .modifierLetter, .spacingMark, .decimalNumber, .letterNumber, .otherNumber:
      return .letter(scalar)
    default: return .separator
    }
  }

  /// The first scalar of its lower case without accents; a full-width letter as the usual one. No lower case has a second
  /// scalar that is not an accent.
  private static func lowerCase(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    let lower = scalar.properties.lowercaseMapping.unicodeScalars.first ?? scalar
    if ("\u{FF41}"..."\u{FF5A}").contains(lower), let usual = Unicode.Scalar(lower.value - 0xFEE0) { return usual }
    return BaseLetters.base(of: lower)
  }
}

/// The words of a text in order, without case, accents, apostrophes and punctuation: `Don’t` and `dont` are equal.
///
/// A stretch of a script without spaces is one word.
struct FoldedWords: Equatable {
  let words: [String]

  init(_ text: String) {
    var words: [String] = []
    var word = ""
    for scalar in text.unicodeScalars {
      switch FoldedScalar(scalar) {
      case .letter(let letter): word.unicodeScalars.append(letter)
      case .nothing: continue
      case .separator:
        if !word.isEmpty { words.append(word) }
        word = ""
      }
    }
    if !word.isEmpty { words.append(word) }
    self.words = words
  }
}

/// The role of a scalar when texts are compared without case, accents and punctuation.
enum FoldedScalar: Equatable {
  /// A letter or digit in lower case without accents.
  case letter(Unicode.Scalar)
  /// Ignored inside a word: a combining accent, an apostrophe or an invisible character.
  case nothing
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

  /// The first scalar of its lower case without accents; a full-width letter becomes the usual one. A second scalar of
  /// a lower case is always an accent.
  private static func lowerCase(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    let lower = scalar.properties.lowercaseMapping.unicodeScalars.first ?? scalar
    if ("\u{FF41}"..."\u{FF5A}").contains(lower), let usual = Unicode.Scalar(lower.value - 0xFEE0) { return usual }
    return BaseLetters.base(of: lower)
  }
}

/// Letters without their accents.
///
/// The Unicode names of accented letters contain the base letter: `LATIN SMALL LETTER E WITH ACUTE`. Unlike a canonical
/// decomposition this includes ø and ł.
private enum BaseLetters {
  /// A lower-case letter without its accents.
  static func base(of scalar: Unicode.Scalar) -> Unicode.Scalar {
    accented[scalar] ?? scalar
  }

  /// The two Cyrillic letters have no ` WITH ` in their names, but people write them without marks too.
  private static let accented: [Unicode.Scalar: Unicode.Scalar] = {
    var bases: [Unicode.Scalar: Unicode.Scalar] = ["ё": "е", "й": "и"]
    for range in scripts {
      let named = byName(range)
      for (name, letter) in named {
        if let base = baseName(of: name).flatMap({ baseLetters[$0] ?? named[$0] }) { bases[letter] = base }
      }
    }
    return bases
  }()

  private static let scripts: [ClosedRange<UInt32>] = [
    0x00C0...0x024F, 0x0370...0x03FF, 0x0400...0x04FF, 0x1E00...0x1EFF, 0x1F00...0x1FFF,
  ]

  /// Base letters of accented letters in other blocks.
  private static let baseLetters = byName(0x61...0x7A).merging(byName(0x03B1...0x03C9)) { one, _ in one }

  private static func byName(_ range: ClosedRange<UInt32>) -> [String: Unicode.Scalar] {
    let letters = range.compactMap(Unicode.Scalar.init)
    return Dictionary(letters.compactMap { letter in letter.properties.name.map { ($0, letter) } }) { one, _ in one }
  }

  /// The part before ` WITH `; nil without one.
  private static func baseName(of name: String) -> String? {
    name.firstRange(of: " WITH ").map { String(name[..<$0.lowerBound]) }
  }
}

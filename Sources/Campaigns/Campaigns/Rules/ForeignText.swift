extension String {
  /// Foreign text made safe for one line of a prompt's fence, a template or the log; nil without a visible character.
  ///
  /// - Line breaks, tabs, other control characters and runs of white space become one space, so that a value cannot begin
  ///   a new line.
  /// - Angle brackets and characters that look like them become ‹ and ›, so that a value cannot close its fence. Escaping
  ///   needs no random or secret fence name, and the same material always gives the same prompt. Texts without a fence
  ///   keep them.
  /// - Invisible characters are removed: those that change the direction of writing, those without width, and the tag
  ///   characters that can hide a whole sentence. The joiners stay, because emoji and several scripts need them.
  ///
  /// Reads until `scalarsMax` Unicode scalars are kept. Scalars are counted because grapheme clusters have no largest size. A cluster
  /// torn by the limit is dropped.
  /// - Parameter isFenced: whether angle brackets are replaced.
  func line(scalarsMax: Int, isFenced: Bool = true) -> String? {
    var kept = String.UnicodeScalarView()
    var room = scalarsMax
    var spaceIsDue = false
    for scalar in unicodeScalars where !scalar.isHidden {
      if scalar.isBlank {
        spaceIsDue = !kept.isEmpty
        continue
      }
      let visible = isFenced ? scalar.withoutBracket : scalar
      room -= spaceIsDue ? 2 : 1
      guard room >= 0 else {
        let line = String(kept).withoutLastCluster(ifContinuedBy: spaceIsDue ? " " : visible)
        return line.isEmpty ? nil : line
      }
      if spaceIsDue { kept.append(" ") }
      kept.append(visible)
      spaceIsDue = false
    }
    return kept.isEmpty ? nil : String(kept)
  }

  /// The string without its last cluster if the next scalar would extend that cluster.
  fileprivate func withoutLastCluster(ifContinuedBy next: Unicode.Scalar) -> String {
    var continued = self
    continued.unicodeScalars.append(next)
    return continued.count == count ? String(dropLast()) : self
  }
}

extension Unicode.Scalar {
  /// Itself, or ‹ or › in place of an angle bracket.
  fileprivate var withoutBracket: Unicode.Scalar {
    switch self {
    case "<", "\u{FE64}", "\u{FF1C}", "\u{2329}", "\u{3008}": "‹"
    case ">", "\u{FE65}", "\u{FF1E}", "\u{232A}", "\u{3009}": "›"
    default: self
    }
  }

  /// Whether it is invisible and changes the text: format characters except the two joiners, and the supplementary
  /// variation selectors.
  var isHidden: Bool {
    switch value {
    // Most text is ASCII, whose category need not be looked up.
    case 0...0x7F, 0x200C, 0x200D: false
    case 0xE0100...0xE01EF: true
    default: properties.generalCategory == .format
    }
  }

  /// Whether it is white space, a control character, or a line or paragraph separator.
  var isBlank: Bool {
    if ("!"..."~").contains(self) { return false }
    return properties.isWhitespace || properties.generalCategory == .control
  }
}

/// The lengths to which short values are cut, in Unicode scalars. They keep log rows and prompts small.
enum TextLimits {
  static let nameMax = 80

  static func domain(_ text: String) -> String? { text.line(scalarsMax: 40) }
  static func theme(_ text: String) -> String? { text.line(scalarsMax: nameMax) }
}

extension String {
  /// The words in order, without case, accents, apostrophes and punctuation: `Don’t` and `dont` are equal.
  ///
  /// A stretch of a script without spaces is one word.
  var foldedWords: [String] {
    unicodeScalars.compactMap(\.folded).split(separator: " ").map { String(String.UnicodeScalarView($0)) }
  }
}

extension Unicode.Scalar {
  /// A letter or digit in lower case without accents, or a space for what separates words. Nil for what is ignored inside a word: a
  /// combining accent, an apostrophe or an invisible character.
  var folded: Unicode.Scalar? {
    switch self {
    case "a"..."z", "0"..."9": return self
    case "A"..."Z": return Unicode.Scalar(UInt8(value) + 32)
    case "'", "\u{2018}", "\u{2019}", "\u{201B}", "\u{02BC}", "\u{FF07}", "\u{B4}", "`": return nil
    case "\0"..."\u{7F}": return " "
    default: break
    }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return nil
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter: return lowerCaseWithoutAccent
    case .otherLetter, .modifierLetter, .spacingMark, .decimalNumber, .letterNumber, .otherNumber: return self
    default: return " "
    }
  }

  /// A full-width letter becomes the usual one. A second scalar of a lower case is always an accent.
  private var lowerCaseWithoutAccent: Unicode.Scalar {
    let lower = properties.lowercaseMapping.unicodeScalars.first ?? self
    if ("\u{FF41}"..."\u{FF5A}").contains(lower), let usual = Unicode.Scalar(lower.value - 0xFEE0) { return usual }
    return BaseLetters.all[lower] ?? lower
  }
}

/// Accented letters without their accents.
///
/// The Unicode names of accented letters contain the base letter: `LATIN SMALL LETTER E WITH ACUTE`. Unlike a canonical
/// decomposition this includes ø and ł.
private enum BaseLetters {
  static let all: [Unicode.Scalar: Unicode.Scalar] = {
    let scripts: [ClosedRange<UInt32>] = [
      0x0061...0x007A, 0x00C0...0x024F, 0x0370...0x03FF, 0x0400...0x04FF, 0x1E00...0x1EFF, 0x1F00...0x1FFF,
    ]
    var named: [String: Unicode.Scalar] = [:]
    for letter in scripts.joined().compactMap(Unicode.Scalar.init) {
      if let name = letter.properties.name { named[name] = letter }
    }
    // Two Cyrillic letters have no ` WITH ` in their names, but people write them without marks too.
    var bases: [Unicode.Scalar: Unicode.Scalar] = ["ё": "е", "й": "и"]
    for (name, letter) in named {
      if let end = name.firstRange(of: " WITH ")?.lowerBound { bases[letter] = named[String(name[..<end])] }
    }
    return bases
  }()
}

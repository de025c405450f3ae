import FoundationEssentials

/// Foreign text made safe for one line of a prompt's fence, a template or the log.
///
/// - Line breaks, tabs, other control characters and runs of white space become one space, so that a value cannot begin
///   a new line.
/// - Angle brackets and characters that look like them become ‹ and ›, so that a value cannot close its fence. Escaping
///   needs no random or secret fence name, and the same material always gives the same prompt. Texts without a fence
///   keep them.
/// - Invisible characters are removed: those that change the direction of writing, those without width, and the tag
///   characters that can hide a whole sentence. The joiners stay, because emoji and several scripts need them.
struct DataLine {
  /// The trimmed line; empty without a visible character.
  let text: String

  /// Reads until `scalarsMax` Unicode scalars are kept.
  ///
  /// Scalars are counted because grapheme clusters have no largest size. A cluster torn by the limit is dropped.
  /// - Parameter isFenced: whether angle brackets are replaced.
  init(_ source: String, scalarsMax: Int, isFenced: Bool = true) {
    var kept = String.UnicodeScalarView()
    var room = scalarsMax
    var spaceIsDue = false
    for scalar in source.unicodeScalars {
      switch ScalarTreatment(of: scalar, isFenced: isFenced) {
      case .leaveOut: continue
      case .space: spaceIsDue = !kept.isEmpty
      case .keep(let visible):
        room -= spaceIsDue ? 2 : 1
        guard room >= 0 else {
          text = String(kept).withoutLastCluster(ifContinuedBy: spaceIsDue ? " " : visible)
          return
        }
        if spaceIsDue { kept.append(" ") }
        kept.append(visible)
        spaceIsDue = false
      }
    }
    text = String(kept)
  }
}

extension String {
  /// The string without its last cluster if the next scalar would extend that cluster.
  fileprivate func withoutLastCluster(ifContinuedBy next: Unicode.Scalar) -> String {
    var continued = self
    continued.unicodeScalars.append(next)
    return continued.count == count ? String(dropLast()) : self
  }
}

private enum ScalarTreatment {
  /// Keep this scalar, which may be a replacement.
  case keep(Unicode.Scalar)
  case space
  case leaveOut

  init(of scalar: Unicode.Scalar, isFenced: Bool) {
    switch scalar {
    case "<", "\u{FE64}", "\u{FF1C}", "\u{2329}", "\u{3008}": self = .keep(isFenced ? "‹" : scalar)
    case ">", "\u{FE65}", "\u{FF1E}", "\u{232A}", "\u{3009}": self = .keep(isFenced ? "›" : scalar)
    case "!"..."~": self = .keep(scalar)
    default: self = scalar.isHidden ? .leaveOut : scalar.isBlank ? .space : .keep(scalar)
    }
  }
}

extension Unicode.Scalar {
  /// Whether it is invisible and changes the text: format characters except the two joiners, and the supplementary
  /// variation selectors.
  var isHidden: Bool {
    switch value {
    case 0x200C, 0x200D: false
    case 0xE0100...0xE01EF: true
    default: properties.generalCategory == .format
    }
  }

  /// Whether it is white space, a control character, or a line or paragraph separator.
  var isBlank: Bool {
    properties.isWhitespace || properties.generalCategory == .control
  }
}

/// The lengths to which short values are cut, in Unicode scalars. They keep log rows and prompts small.
enum TextLimits {
  static let eventMax = 40
  static let domainMax = 40
  static let themeMax = 80
  static let conditionMax = 80
  /// The most logged domains of one pattern.
  static let domainsMax = 8

  static func event(_ text: String) -> String? { line(text, max: eventMax) }
  static func domain(_ text: String) -> String? { line(text, max: domainMax) }
  static func theme(_ text: String) -> String? { line(text, max: themeMax) }

  /// A text on one line; nil without a visible character.
  static func line(_ text: String, max: Int) -> String? {
    let line = DataLine(text, scalarsMax: max).text
    return line.isEmpty ? nil : line
  }
}

extension StringProtocol {
  var trimmed: String {
    guard let first = firstIndex(where: { !$0.isWhitespace }), let last = lastIndex(where: { !$0.isWhitespace }) else {
      return ""
    }
    return String(self[first...last])
  }
}

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

/// A JSON document of any shape, for readers that must find unknown members.
///
/// Foundation's decoder reads it. It accepts a trailing comma and keeps one of several members with the same key.
enum JSONValue: Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// Reads a whole document; nil when it is not JSON, or nested deeper than the decoder goes (512).
  init?(_ text: String) {
    guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8)) else { return nil }
    self = value
  }
}

extension JSONValue: Decodable {
  /// Tries each kind. A number beyond `Double` becomes null.
  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSONValue].self) {
      self = .array(value)
    } else if let value = try? container.decode([String: JSONValue].self) {
      self = .object(value)
    } else {
      self = .null
    }
  }
}
